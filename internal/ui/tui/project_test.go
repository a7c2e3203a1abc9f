package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReloadTakesWhatWasEditedInAnExtension(t *testing.T) {
	w := newWorld(t)
	extension := func(command, says string) {
		w.ofUser("extensions/says.js", `export default function (pi) {
  pi.registerCommand("`+command+`", { description: "Says it", handler: async (args, ctx) => ctx.ui.notify("`+says+`", "info") });
}
`)
	}
	extension("greet", "good morning")
	s := w.open()
	s.say("hello")
	s.WaitFor("Understood.")
	s.say("/greet")
	s.WaitFor("good morning")
	extension("part", "good night")
	s.say("/part")
	s.WaitFor("there is no command /part", "❯ /part")
	s.Keys("C-u")
	s.WaitFor("ask something")
	s.say("/reload")
	s.WaitFor("loaded 1 extension")
	s.Type("/par")
	s.WaitFor("/part", "Says it")
	s.Type("t")
	s.Keys("Enter")
	s.WaitFor("good night")
	s.say("/greet")
	s.WaitFor("there is no command /greet")
}

func TestAProjectThatIsNotTrustedDoesNothingUntilItIs(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.project, ".scorel", "config.toml"), "[[hooks]]\nevent = \"UserPromptSubmit\"\ncommand = \"echo heard >> $HOME/heard.txt\"\n")
	s := w.open()
	s.WaitFor("1 file of this project that could act is ignored until trusted; /trust shows what")
	s.say("hello")
	s.answers(1)
	s.say("/trust")
	s.WaitFor("Trust this project?", "echo heard >> $HOME/heard.txt", ".scorel/config.toml", "1. Trust these files as they are now", "❯ 2. Work without them")
	s.Keys("Enter")
	s.gone("Trust this project?")
	s.say("/trust")
	s.WaitFor("Trust this project?", "❯ 2. Work without them")
	s.Keys("Escape") // not now
	s.gone("Trust this project?")
	s.say("hello again")
	s.answers(2)
	heard := func(want string) {
		t.Helper()
		if got, _ := os.ReadFile(filepath.Join(w.home, "heard.txt")); string(got) != want {
			t.Errorf("the hook has left %q, not %q", got, want)
		}
	}
	heard("")
	s.say("/trust")
	s.WaitFor("Trust this project?", "❯ 2. Work without them")
	s.Type("y")
	s.WaitFor("trusted; it counts from the next message on")
	s.say("now it counts")
	s.answers(3)
	heard("heard\n")
	s.say("/trust")
	s.WaitFor("This project is trusted", "❯ 1. Go on trusting them", "2. Trust them no more")
	s.Type("2")
	s.WaitFor("the project's files are text again")
	s.say("no hook any more")
	s.answers(4)
	heard("heard\n")
	if err := os.Remove(filepath.Join(w.project, ".scorel", "config.toml")); err != nil {
		t.Fatal(err)
	}
	s.say("/trust")
	s.WaitFor("there is nothing in this project that could act")
	if strings.Contains(s.Screen(), "Trust this project?") {
		t.Error("it asks all the same")
	}
}
