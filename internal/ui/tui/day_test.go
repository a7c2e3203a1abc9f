package tui_test

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenTodosAreShownWhileATurnRunsAndFoldAway(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^plan"},"do":[{"call":"TodoWrite","input":{"todos":[{"content":"look","status":"completed"},{"content":"mend it","status":"in_progress"}]}}]}`,
		`{"if":{"result":"."},"do":[{"text":"at work on it"},{"hang":true}]}`)
	s := h.Open()
	s.Say("plan it")
	screen := s.WaitFor("at work on it", "esc to cancel")
	if n := strings.Count(screen, "▸ mend it"); n != 2 {
		t.Errorf("the step in work stands there %d times:\n%s", n, screen)
	}
	s.Keys("Escape")
	screen = s.WaitFor("Cancelled.", "ask something")
	if n := strings.Count(screen, "▸ mend it"); n != 1 {
		t.Errorf("the list stays, %d times:\n%s", n, screen)
	}
}

func TestWhatTheCommandLineSetsIsShownBeforeThereIsASession(t *testing.T) {
	h := newHarness(t)
	s := h.Open("--permission-mode", "plan")
	screen := s.WaitFor("script:"+h.Script, " plan  "+filepath.Base(h.Script))
	if strings.Contains(screen, "No model") {
		t.Errorf("it says that there is no model:\n%s", screen)
	}
}

func TestEachThemeIsOfferedOnce(t *testing.T) {
	s := newHarness(t).Open()
	s.Say("/theme")
	screen := s.WaitFor("auto  dark or light", "high-contrast")
	if n := strings.Count(screen, "auto"); n != 1 {
		t.Errorf("auto is offered %d times:\n%s", n, screen)
	}
}

func TestAQuestionHasTheWholeOfASmallScreen(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^write"},"do":[{"call":"Write","input":{"path":"new.txt","content":"first\nsecond\nthird\nfourth\n"}}]}`)
	h.Width, h.Height = 60, 15
	s := h.Open()
	s.Say("write it")
	s.WaitFor("Create new.txt?", "+ first", "+ fourth", "Allow once")
}
