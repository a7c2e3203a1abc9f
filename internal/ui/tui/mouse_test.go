package tui_test

import (
	"fmt"
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
func (s *terminal) press(button, column, row int) {
	s.Type(fmt.Sprintf("\x1b[<%d;%d;%dM", button, column+1, row+1))
}

// release tells that the left button is not held any more.
func (s *terminal) release(column, row int) {
	s.Type(fmt.Sprintf("\x1b[<0;%d;%dm", column+1, row+1))
}

// rowOf gives the row that holds a text, from 0.
func (s *terminal) rowOf(text string) int {
	return slices.IndexFunc(strings.Split(s.WaitFor(text), "\n"), func(l string) bool { return strings.Contains(l, text) })
}

func (w *world) fullScreen() *terminal {
	w.t.Helper()
	w.tmux = []string{"set -s set-clipboard on"}
	w.ofUser("tui.toml", "screen = \"full\"\n")
	s := w.open("--permission-mode", "bypassPermissions")
	s.Wait("the whole screen, with the mouse", func(string) bool { return s.Format("#{alternate_on}#{mouse_any_flag}") == "11" })
	return s
}

func TestTheWheelScrollsAndAListGoesWithIt(t *testing.T) {
	w := newWorld(t, `{"if":{"user":"^many"},"do":[{"text":"the beginning\n\n"},{"text":"paragraph of many\n\n","times":60},{"text":"the end of it"}],"again":true}`)
	s := w.fullScreen()
	s.say("many lines")
	s.WaitFor("the end of it")
	for range 60 {
		s.press(wheelUp, 10, 5)
	}
	s.WaitFor("the beginning")
	for range 60 {
		s.press(wheelDown, 10, 5)
	}
	s.WaitFor("the end of it")
	s.say("/help")
	s.WaitFor("Commands of this UI", "❯ /attach")
	s.press(wheelDown, 10, 5)
	s.WaitFor("❯ /clone")
	s.press(wheelUp, 10, 5)
	s.WaitFor("❯ /attach")
}

func TestAClickUnfoldsACardAndFoldsItAgain(t *testing.T) {
	w := newWorld(t, `{"if":{"user":"^count"},"do":[{"call":"Bash","input":{"command":"seq 40 | sed 's/^/line /'"}}],"again":true}`)
	w.height = 60
	s := w.fullScreen()
	s.say("count")
	s.WaitFor("Understood.", "line 40")
	if strings.Contains(s.Screen(), "line 7\n") {
		t.Fatalf("it is not folded:\n%s", s.Screen())
	}
	row := s.rowOf("line 40") // below the header, which moves the rows
	s.press(leftButton, 6, row)
	s.release(6, row)
	s.WaitFor("line 7\n", "line 8\n")
	row = s.rowOf("line 8\n"[:6])
	s.press(leftButton, 6, row)
	s.release(6, row)
	s.gone("line 7\n")
	s.Type("typed on")
	s.WaitFor("❯ typed on")
}

func TestDraggingSelectsTextAndCopiesIt(t *testing.T) {
	w := newWorld(t, `{"if":{"user":"^speak"},"do":[{"text":"alpha beta gamma\n\ndelta epsilon zeta\n\n"},{"text":"more of it\n\n","times":40},{"text":"the last line"}],"again":true}`)
	s := w.fullScreen()
	s.say("speak")
	s.WaitFor("the last line")
	s.Keys("PageUp", "g")
	row := s.rowOf("alpha beta")
	s.press(leftButton, strings.Index("● alpha beta", "beta")-len("●")+1, row)
	s.press(dragging, 20, row+1)
	s.press(dragging, 8, row+2)
	s.release(8, row+2)
	s.WaitFor("copied")
	if got, want := s.Buffer(), "beta gamma\n\ndelta e"; got != want {
		t.Errorf("copied %q, not %q", got, want)
	}
	if styled := s.Styled(); !strings.Contains(styled, "\x1b[7m") {
		t.Errorf("what is selected does not look so:\n%s", styled)
	}
	s.press(leftButton, 10, row+2) // a word, by two clicks
	s.release(10, row+2)
	s.press(leftButton, 10, row+2)
	s.release(10, row+2)
	s.Wait("the word", func(string) bool { return s.Buffer() == "epsilon" })
	s.press(leftButton, 2, row)
	for range 80 { // held below the end, it scrolls
		s.press(dragging, 40, 29)
	}
	s.WaitFor("the last line")
	s.release(40, 29)
	s.Wait("all of it", func(string) bool {
		return strings.HasPrefix(s.Buffer(), "alpha beta gamma\n\ndelta") && strings.HasSuffix(s.Buffer(), "more of it\n\nthe last line")
	})
}
