package tui_test

import (
	"fmt"
	"scorel/internal/ui/tui/tuitest"
	"slices"
	"strings"
	"testing"
)

// Buttons of the mouse as terminals tell them (SGR).
const (
	leftButton = 0
	dragging   = 32
	wheelUp    = 64
	wheelDown  = 65
)

// press tells of a button at a place, from 0.
func press(s *tuitest.UI, button, column, row int) {
	s.Type(fmt.Sprintf("\x1b[<%d;%d;%dM", button, column+1, row+1))
}

// release tells that the left button is not held any more.
func release(s *tuitest.UI, column, row int) {
	s.Type(fmt.Sprintf("\x1b[<0;%d;%dm", column+1, row+1))
}

// rowOf returns the row that holds a text, from 0.
func rowOf(s *tuitest.UI, text string) int {
	return slices.IndexFunc(strings.Split(s.WaitFor(text), "\n"), func(l string) bool { return strings.Contains(l, text) })
}

func fullScreen(t testing.TB, h *tuitest.Harness) *tuitest.UI {
	t.Helper()
	h.Settings = []string{"set -s set-clipboard on"}
	h.WriteUser("tui.toml", "screen = \"full\"\n")
	s := h.Open("--permission-mode", "bypassPermissions")
	s.Wait("the whole screen, with the mouse", func(string) bool { return s.Format("#{alternate_on}#{mouse_any_flag}") == "11" })
	return s
}

func TestTheWheelScrollsAndAListGoesWithIt(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^many"},"do":[{"text":"the beginning\n\n"},{"text":"paragraph of many\n\n","times":60},{"text":"the end of it"}],"again":true}`)
	s := fullScreen(t, h)
	s.Say("many lines")
	s.WaitFor("the end of it")
	for range 60 {
		press(s, wheelUp, 10, 5)
	}
	s.WaitFor("the beginning")
	for range 60 {
		press(s, wheelDown, 10, 5)
	}
	s.WaitFor("the end of it")
	s.Say("/help")
	s.WaitFor("Commands of this UI", "❯ /add")
	press(s, wheelDown, 10, 5)
	s.WaitFor("❯ /bg PROMPT")
	press(s, wheelUp, 10, 5)
	s.WaitFor("❯ /add")
}

func TestAClickUnfoldsACardAndFoldsItAgain(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^count"},"do":[{"call":"Bash","input":{"command":"seq 40 | sed 's/^/line /'"}}],"again":true}`)
	h.Height = 60
	s := fullScreen(t, h)
	s.Say("count")
	s.WaitFor("Understood.", "line 40")
	if strings.Contains(s.Screen(), "line 7\n") {
		t.Fatalf("it is not folded:\n%s", s.Screen())
	}
	row := rowOf(s, "line 40") // below the header, which moves the rows
	press(s, leftButton, 6, row)
	release(s, 6, row)
	s.WaitFor("line 7\n", "line 8\n")
	row = rowOf(s, "line 8\n"[:6])
	press(s, leftButton, 6, row)
	release(s, 6, row)
	s.Gone("line 7\n")
	s.Type("typed on")
	s.WaitFor("❯ typed on")
}

func TestDraggingSelectsTextAndCopiesIt(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"^speak"},"do":[{"text":"alpha beta gamma\n\ndelta epsilon zeta\n\n"},{"text":"more of it\n\n","times":40},{"text":"the last line"}],"again":true}`)
	s := fullScreen(t, h)
	s.Say("speak")
	s.WaitFor("the last line")
	s.Keys("PageUp", "g")
	row := rowOf(s, "alpha beta")
	press(s, leftButton, strings.Index("● alpha beta", "beta")-len("●")+1, row)
	press(s, dragging, 20, row+1)
	press(s, dragging, 8, row+2)
	release(s, 8, row+2)
	s.WaitFor("copied")
	if got, want := s.Buffer(), "beta gamma\n\ndelta e"; got != want {
		t.Errorf("copied %q, not %q", got, want)
	}
	if styled := s.Styled(); !strings.Contains(styled, "\x1b[7m") {
		t.Errorf("what is selected does not look so:\n%s", styled)
	}
	press(s, leftButton, 10, row+2) // a word, by two clicks
	release(s, 10, row+2)
	press(s, leftButton, 10, row+2)
	release(s, 10, row+2)
	s.Wait("the word", func(string) bool { return s.Buffer() == "epsilon" })
	press(s, leftButton, 2, row)
	for range 80 { // held below the end, it scrolls
		press(s, dragging, 40, 29)
	}
	s.WaitFor("the last line")
	release(s, 40, 29)
	s.Wait("all of it", func(string) bool {
		return strings.HasPrefix(s.Buffer(), "alpha beta gamma\n\ndelta") && strings.HasSuffix(s.Buffer(), "more of it\n\nthe last line")
	})
}
