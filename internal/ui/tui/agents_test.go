package tui_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/ui/tui/tuitest"
)

// Two agents in the background, each of which works until a file is there.
const (
	startsFirst = `{"if":{"user":"^begin"},"do":[{"call":"Task","input":{"agent":"general","description":"look around","prompt":"FIRST child","background":true}}]}`
	startsNext  = `{"if":{"user":"^more"},"do":[{"call":"Task","input":{"agent":"general","description":"count stars","prompt":"SECOND child","background":true}}]}`
	firstOne    = `{"if":{"user":"^FIRST"},"do":[{"text":"first at work"},{"call":"Bash","input":{"command":"until [ -e first ]; do sleep 0.05; done; echo did","timeout_seconds":600}}]}`
	secondOne   = `{"if":{"user":"^SECOND"},"do":[{"text":"second at work"},{"call":"Bash","input":{"command":"until [ -e second ]; do sleep 0.05; done; echo did","timeout_seconds":600}}]}`
)

// beginTwo has the agents begin, the one that looks around first.
func beginTwo(s *tuitest.UI) {
	s.Say("begin")
	s.Answered("Understood.", 1)
	s.Say("more")
	s.Answered("Understood.", 2)
	s.WaitFor("● main", "○ general  look around", "○ general  count stars")
}

func openTwo(t *testing.T, more ...string) (*tuitest.Harness, *tuitest.UI) {
	t.Helper()
	h := newHarness(t, append([]string{startsFirst, startsNext, firstOne, secondOne}, more...)...)
	s := h.Open("--permission-mode", "bypassPermissions")
	beginTwo(s)
	return h, s
}

func TestAnAgentInTheBackgroundIsShownAndTheMainConversationComesBack(t *testing.T) {
	h, s := openTwo(t)
	before := s.All()
	s.Keys("Down")
	s.WaitFor("up/down to select")
	s.Keys("Down", "Down", "Enter")
	if screen := s.WaitFor("❯ SECOND child", "second at work", "message to general: count stars", "● general  count stars", "up/down to select"); strings.Contains(screen, "❯ begin") {
		t.Errorf("the main conversation is shown, too:\n%s", screen)
	}
	s.Keys("Up", "Enter")
	s.WaitFor("❯ FIRST child", "first at work", "message to general: look around", "● general  look around")
	s.Keys("Up", "Enter")
	s.WaitFor("❯ begin", "❯ more", "ask something", "● main", "up/down to select")
	s.Keys("Up")
	s.WaitFor("down to select")
	if n := strings.Count(s.All(), "❯ begin"); n != strings.Count(before, "❯ begin") || strings.Contains(s.All(), "FIRST child") {
		t.Errorf("the scrollback is another one:\n%s", s.All())
	}
	h.Write(filepath.Join(h.Project, "first"), "")
	s.WaitFor("general: look around ended\n", "general  look around", "ended · ")
}

func TestDraftsStayWithTheSessionThatTheyAreFor(t *testing.T) {
	_, s := openTwo(t)
	s.Type("for the main one")
	s.WaitFor("❯ for the main one")
	s.Keys("M-j")
	s.WaitFor("Background tasks")
	s.Keys("Enter")
	s.WaitFor("❯ SECOND child", "message to general: count stars")
	s.Type("for the agent")
	s.WaitFor("❯ for the agent")
	s.Keys("Escape")
	s.WaitFor("❯ for the main one", "● main")
	if all := s.All(); !strings.Contains(all, "❯ begin") || strings.Contains(all, "for the agent") { // what is on the screen of it depends on how far the agents are
		t.Errorf("the main conversation is another one:\n%s", all)
	}
}

func TestAMessageWhileAnAgentIsShownGoesToTheAgent(t *testing.T) {
	h, s := openTwo(t, `{"if":{"user":"hello agent"},"do":[{"text":"hello from the agent"}]}`)
	s.Keys("Down")
	s.WaitFor("up/down to select")
	s.Keys("Down", "Enter")
	s.WaitFor("❯ FIRST child", "message to general: look around")
	s.Say("hello agent")
	s.WaitFor("after this turn: hello agent")
	h.Write(filepath.Join(h.Project, "first"), "")
	s.WaitFor("hello from the agent")
	s.Keys("Escape")
	if screen := s.WaitFor("● main", "ask something"); strings.Contains(screen, "hello from the agent") {
		t.Errorf("it is in the main conversation:\n%s", screen)
	}
}

func TestAQuestionOfAnAgentIsAnsweredWhereTheAgentIsShown(t *testing.T) {
	h := newHarness(t, startsFirst, startsNext, firstOne, secondOne,
		`{"if":{"result":"^did"},"do":[{"call":"AskUser","input":{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red"},{"label":"Blue"}]}]}}],"again":true}`,
		`{"if":{"result":"Red"},"do":[{"text":"red it is"}]}`)
	s := h.Open("--permission-mode", "bypassPermissions")
	beginTwo(s)
	s.Keys("Down")
	s.WaitFor("up/down to select")
	s.Keys("Down", "Enter")
	s.WaitFor("❯ FIRST child", "message to general: look around")
	h.Write(filepath.Join(h.Project, "first"), "")
	s.WaitFor("Which colour?")
	s.Until("red it is", "Enter")
	s.Keys("Up", "Enter")
	if screen := s.WaitFor("❯ more", "ask something", "● main"); strings.Contains(screen, "Which colour?") {
		t.Errorf("the main conversation still asks it:\n%s", screen)
	}
}

func TestAQuestionOfAnotherAgentIsToldWhileOneIsShown(t *testing.T) {
	h := newHarness(t, startsFirst, startsNext, firstOne, secondOne,
		`{"if":{"result":"^did"},"do":[{"call":"AskUser","input":{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red"},{"label":"Blue"}]}]}}],"again":true}`)
	s := h.Open("--permission-mode", "bypassPermissions")
	beginTwo(s)
	s.Keys("Down")
	s.WaitFor("up/down to select")
	s.Keys("Down", "Down", "Enter")
	s.WaitFor("❯ SECOND child", "message to general: count stars")
	h.Write(filepath.Join(h.Project, "first"), "")
	if screen := s.WaitFor("the main conversation waits for your answer", "main  waits for your answer"); strings.Contains(screen, "Which colour?") {
		t.Errorf("it is asked over the other agent:\n%s", screen)
	}
	s.Keys("Escape")
	s.WaitFor("Which colour?")
}

func TestAnAgentIsStoppedWithTwoPressesAndClearedWithOne(t *testing.T) {
	h, s := openTwo(t)
	s.Keys("Down")
	s.WaitFor("up/down to select")
	s.Keys("Down")
	s.WaitFor("● general  look around")
	s.Keys("x")
	s.WaitFor("x again to stop")
	s.Keys("x")
	s.Gone("general  look around")
	s.WaitFor("general: look around was stopped", "● main")
	h.Write(filepath.Join(h.Project, "second"), "")
	s.WaitFor("ended · ")
	s.Keys("Down")
	s.WaitFor("● general  count stars")
	s.Keys("x")
	s.Gone("general  count stars")
	s.Gone("● main")
}

func TestAnotherSessionEndsTheViewOfAnAgent(t *testing.T) {
	_, s := openTwo(t)
	view := func() {
		s.Keys("Down")
		s.WaitFor("up/down to select")
		s.Keys("Down", "Enter")
		s.WaitFor("❯ FIRST child", "message to general: look around")
	}
	view()
	s.Say("/new")
	s.Gone("● main")
	s.WaitFor("ask something")
	s.Say("another conversation")
	s.WaitFor("❯ another conversation")
	s.Say("/resume")
	s.WaitFor("Sessions · ", "❯ another conversation")
	s.Type("begin")
	s.WaitFor("❯ begin")
	s.Keys("Enter")
	s.WaitFor("○ general  look around", "○ general  count stars")
	view()
	s.Keys("Escape")
	s.WaitFor("● main", "ask something", "❯ more")
}

func TestAClickOnARowShowsTheAgent(t *testing.T) {
	h := newHarness(t, startsFirst, startsNext, firstOne, secondOne)
	s := fullScreen(t, h)
	beginTwo(s)
	press(s, leftButton, 4, rowOf(s, "○ general  count stars"))
	s.WaitFor("❯ SECOND child", "message to general: count stars")
	press(s, leftButton, 4, rowOf(s, "○ main"))
	s.WaitFor("❯ begin", "ask something", "● main")
}

func TestWhoComesBackIsToldWhatRanByItself(t *testing.T) {
	h := newHarness(t, startsFirst, firstOne, `{"if":{"user":"(?s)Background agent task_.*look around"},"do":[{"text":"nobody was here"}]}`)
	s := h.Open("--permission-mode", "bypassPermissions")
	s.Say("begin")
	s.Answered("Understood.", 1)
	s.WaitFor("○ general  look around")
	s.Keys("C-d")
	s.WaitEnd()
	h.Write(filepath.Join(h.Project, "first"), "")
	h.Until("the turn that begins by itself", func() bool { return stored(h, "nobody was here") })
	s = h.Open("-c")
	s.WaitFor("nobody was here", "while you were away, 1 turn began by itself")
	s.Say("thanks")
	s.WaitFor("Understood.")
	s.Keys("C-d")
	s.WaitEnd()
	s = h.Open("-c")
	if screen := s.WaitFor("❯ thanks", "ask something"); strings.Contains(screen, "while you were away") {
		t.Errorf("it is told again:\n%s", screen)
	}
}

// stored reports whether a log has a text.
func stored(h *tuitest.Harness, text string) bool {
	found := false
	_ = filepath.WalkDir(filepath.Join(h.Home, ".scorel"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".jsonl") {
			data, _ := os.ReadFile(path)
			found = found || bytes.Contains(data, []byte(text))
		}
		return nil
	})
	return found
}

func TestTheStripAndTheStatusLineCountTheSameInTheBackground(t *testing.T) {
	_, s := openTwo(t)
	s.Say("/monitor sleep 600")
	s.WaitFor("1 in background: sleep 600")
	s.Wait("one count", func(screen string) bool {
		return strings.Count(screen, "1 in background") == 2 && !strings.Contains(screen, "3 in background")
	})
}
