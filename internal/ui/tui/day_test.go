package tui_test

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenTodosAreShownWhileATurnRunsAndFoldAway(t *testing.T) {
	w := newWorld(t, `{"if":{"user":"^plan"},"do":[{"call":"TodoWrite","input":{"todos":[{"content":"look","status":"completed"},{"content":"mend it","status":"in_progress"}]}}]}`,
		`{"if":{"result":"."},"do":[{"text":"at work on it"},{"hang":true}]}`)
	s := w.open()
	s.say("plan it")
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
	w := newWorld(t)
	s := w.open("--permission-mode", "plan")
	screen := s.WaitFor("script:"+w.script, " plan  "+filepath.Base(w.script))
	if strings.Contains(screen, "No model") {
		t.Errorf("it says that there is no model:\n%s", screen)
	}
}

func TestEachThemeIsOfferedOnce(t *testing.T) {
	s := newWorld(t).open()
	s.say("/theme")
	screen := s.WaitFor("auto  dark or light", "high-contrast")
	if n := strings.Count(screen, "auto"); n != 1 {
		t.Errorf("auto is offered %d times:\n%s", n, screen)
	}
}

func TestAQuestionHasTheWholeOfASmallScreen(t *testing.T) {
	w := newWorld(t, `{"if":{"user":"^write"},"do":[{"call":"Write","input":{"path":"new.txt","content":"first\nsecond\nthird\nfourth\n"}}]}`)
	w.width, w.height = 60, 15
	s := w.open()
	s.say("write it")
	s.WaitFor("May Write run?", "+ first", "+ fourth", "Allow once")
}
