package tui_test

import (
	"path/filepath"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestASessionIsFoundByWhatWasSaidInItAndShownThere(t *testing.T) {
	h := newHarness(t)
	said := many(600, map[int]string{1: "about the wombat that lives there"})
	said[0] = "burrows"
	h.Store(protocol.Meta{}, said...)
	h.Store(protocol.Meta{Name: "another one"}, "something else", "nothing of that")
	s := h.Open()
	s.Say("/resume")
	s.WaitFor("Sessions · this project", "another one", "burrows")
	s.Type("wombat")
	s.WaitFor("said in", "❯ burrows", "the wombat", "> message 588 asks") // what was found, and the newest of the session beside it
	if strings.Contains(s.Screen(), "another one") {
		t.Errorf("what does not fit is listed:\n%s", s.Screen())
	}
	s.Keys("Enter")
	s.WaitFor("❯ burrows", "about the wombat that lives there", "/wombat  1 of 1")
	s.Keys("Escape", "Escape")
	s.WaitFor("message 599 answers", "ask something")
	s.Say("/resume")
	s.WaitFor("Sessions · this project")
	s.Type("wombat")
	s.WaitFor("said in", "❯ burrows")
	s.Keys("Enter") // the session that is shown already
	s.WaitFor("about the wombat that lives there", "/wombat  1 of 1")
}

func TestADeletionIsConfirmedAndTheSessionsOfAllProjectsAreListed(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("about apples")
	waitAnswers(s, 1)
	elsewhere := filepath.Join(filepath.Dir(h.Project), "elsewhere")
	h.Write(filepath.Join(elsewhere, "a.txt"), "")
	other := h.Run(elsewhere, h.Program(), "--model", "script:"+h.Script)
	other.WaitFor("ask something")
	other.Say("about pears")
	waitAnswers(other, 1)
	other.Say("/resume")
	if screen := other.WaitFor("Sessions · this project", "❯ about pears"); strings.Contains(screen, "apples") {
		t.Errorf("one of another project is listed:\n%s", screen)
	}
	other.Keys("C-s")
	other.WaitFor("Sessions · all", "about apples")
	other.Type("apples")
	other.WaitFor("❯ about apples")
	other.Keys("C-d")
	other.WaitFor("Delete about apples with its log for good?")
	other.Type("n")
	other.WaitFor("❯ about apples")
	other.Keys("C-r")
	other.WaitFor("New name: about apples")
	other.Keys("C-u")
	other.Type("renamed apples")
	other.WaitFor("New name: renamed apples")
	other.Keys("Enter")
	other.WaitFor("renamed apples")
	s.Wait("the new name in the other terminal", func(screen string) bool { return strings.Contains(lastLine(screen), "renamed apples") })
	other.Keys("Enter")
	other.WaitFor("❯ about apples", "Understood.")
}

func TestTheScrollbackIsKeptWhenAnotherSessionIsShown(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^many"},"do":[{"text":"paragraph of many\n\n","times":80},{"text":"the end"}]}`)
	s := h.Open()
	s.Say("many lines, please")
	s.WaitFor("the end", "ask something")
	s.Say("/new")
	s.Wait("a new session", func(screen string) bool { return strings.Contains(screen, "f1 keys and commands") })
	s.Say("the second session")
	waitAnswers(s, 1)
	s.Say("/resume")
	s.WaitFor("Sessions · this project")
	s.Type("many")
	s.WaitFor("❯ many lines, please")
	s.Keys("Enter")
	all := ""
	s.Wait("the session from before, below", func(string) bool {
		all = s.All()
		return strings.LastIndex(all, "the end\n") > strings.Index(all, "❯ the second session") && !strings.Contains(all, "Sessions · ")
	})
	for text, times := range map[string]int{"❯ many lines, please": 2, "paragraph of many": 160, "❯ the second session": 1, "Understood.": 1} {
		if n := strings.Count(all, text); n != times {
			t.Errorf("%q stands there %d times, not %d", text, n, times)
		}
	}
	if strings.Index(all, "❯ the second session") < strings.Index(all, "the end") {
		t.Error("the sessions do not stand in the order in which they were shown")
	}
}

func TestWhatIsToldWhileAPickerIsOpenIsSeen(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("extensions/tells.js", `export default function (pi) {
  pi.registerCommand("tell", { description: "Tells it", handler: async (args, ctx) => ctx.ui.notify("the kettle boils", "warning") });
}
`)
	s := h.Open()
	s.Say("hello")
	waitAnswers(s, 1)
	other := h.Open("-c")
	waitAnswers(other, 1)
	s.Say("/help")
	s.WaitFor("Commands of this UI")
	other.Say("/tell")
	s.WaitFor("the kettle boils", "Commands of this UI")
	s.Shut("Commands of this UI")
	s.Say("/tree")
	s.WaitFor("Tree · ", "you: hello", "here")
	other.Say("one more thing")
	s.WaitFor("Tree · ", "you: one more thing")
	s.Wait("the answer where it is now", func(screen string) bool {
		i := strings.Index(screen, "you: one more thing")
		return i >= 0 && strings.Contains(screen[i:], "Understood.") && strings.Contains(screen[i:], "here")
	})
}

func TestAnErrorOfASessionGoesWithItAndIsAmongTheNotices(t *testing.T) {
	h := newHarness(t)
	h.Store(protocol.Meta{Name: "another one"}, "something else", "nothing of that")
	s := h.Open()
	s.Say("about apples")
	waitAnswers(s, 1)
	s.Say("/nonesuch thing")
	s.WaitFor("there is no command /nonesuch")
	s.Keys("C-c") // what was not sent
	s.WaitFor("ask something")
	s.Say("/resume another one")
	s.WaitFor("❯ something else", "nothing of that")
	if strings.Contains(s.Screen(), "✗ there is no command /nonesuch") {
		t.Errorf("the error of the other session is still shown:\n%s", s.Screen())
	}
	s.Say("/notices")
	s.WaitFor("─ Notices", "there is no command /nonesuch", "esc")
}
