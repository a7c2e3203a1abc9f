package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReloadTakesWhatWasEditedInAnExtension(t *testing.T) {
	h := newHarness(t)
	extension := func(command, says string) {
		h.WriteUser("extensions/says.js", `export default function (pi) {
  pi.registerCommand("`+command+`", { description: "Says it", handler: async (args, ctx) => ctx.ui.notify("`+says+`", "info") });
}
`)
	}
	extension("greet", "good morning")
	s := h.Open()
	s.Say("hello")
	waitAnswers(s, 1)
	s.Say("/greet")
	s.WaitFor("good morning")
	extension("part", "good night")
	s.Say("/part")
	s.WaitFor("there is no command /part", "❯ /part")
	s.Keys("C-u")
	s.WaitFor("ask something")
	s.Say("/reload")
	s.WaitFor("loaded 1 extension")
	s.Type("/par")
	s.WaitFor("/part", "Says it")
	s.Type("t")
	s.Keys("Enter")
	s.WaitFor("good night")
	s.Say("/greet")
	s.WaitFor("there is no command /greet")
}

func TestAProjectThatIsNotTrustedDoesNothingUntilItIs(t *testing.T) {
	h := newHarness(t)
	h.Write(filepath.Join(h.Project, ".scorel", "config.toml"), "[[hooks]]\nevent = \"UserPromptSubmit\"\ncommand = \"echo heard >> $HOME/heard.txt\"\n")
	s := h.Open()
	s.WaitFor("1 file of this project could run commands or change settings; ignored until trusted")
	s.Say("hello")
	waitAnswers(s, 1)
	s.Say("/trust")
	s.WaitFor("Trust this project?", "echo heard >> $HOME/heard.txt", ".scorel/config.toml", "1. Trust these files as they are now", "❯ 2. Work without them")
	s.Keys("Enter")
	s.Gone("Trust this project?")
	s.Say("/trust")
	s.WaitFor("Trust this project?", "❯ 2. Work without them")
	s.Keys("Escape") // not now
	s.Gone("Trust this project?")
	s.Say("hello again")
	waitAnswers(s, 2)
	heard := func(want string) {
		t.Helper()
		if got, _ := os.ReadFile(filepath.Join(h.Home, "heard.txt")); string(got) != want {
			t.Errorf("the hook has left %q, not %q", got, want)
		}
	}
	heard("")
	s.Say("/trust")
	s.WaitFor("Trust this project?", "❯ 2. Work without them")
	s.Type("y")
	s.WaitFor("trusted; it applies from the next message on")
	s.Say("now it counts")
	waitAnswers(s, 3)
	heard("heard\n")
	s.Say("/trust")
	s.WaitFor("This project is trusted", "❯ 1. Keep trusting them", "2. Stop trusting them")
	s.Type("2")
	s.WaitFor("the project's files are no longer trusted")
	s.Say("no hook any more")
	waitAnswers(s, 4)
	heard("heard\n")
	if err := os.Remove(filepath.Join(h.Project, ".scorel", "config.toml")); err != nil {
		t.Fatal(err)
	}
	s.Say("/trust")
	s.WaitFor("nothing here needs trust")
	if strings.Contains(s.Screen(), "Trust this project?") {
		t.Error("it asks all the same")
	}
}
