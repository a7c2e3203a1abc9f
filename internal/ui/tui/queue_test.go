package tui_test

import (
	"strings"
	"testing"
)

// inOrder reports whether texts stand one after the other.
func inOrder(screen string, texts ...string) bool {
	for _, text := range texts {
		i := strings.Index(screen, text)
		if i < 0 {
			return false
		}
		screen = screen[i+len(text):]
	}
	return true
}

func TestChangesOfWhatWaitsFollowOneAnotherHoweverFast(t *testing.T) {
	h := newHarness(t, hangs)
	s := h.Open()
	s.Say("hang")
	s.WaitFor("at work on it")
	for _, text := range []string{"one waits", "two waits", "three waits"} {
		s.Say(text)
		s.WaitFor("after this turn: " + text)
	}
	s.Keys("Up")
	s.WaitFor("Waiting messages", "❯ one waits")
	s.Keys("M-Down", "M-Down") // within one round trip
	s.Wait("the new order", func(screen string) bool { return inOrder(screen, "two waits", "three waits", "❯ one waits") })
	s.Shut("Waiting messages")
	s.Wait("the new order at the host", func(screen string) bool {
		return inOrder(screen, "after this turn: two waits", "after this turn: three waits", "after this turn: one waits")
	})
	s.Keys("M-Up", "M-Up", "M-Up")
	s.Wait("all of them in the editor", func(screen string) bool {
		return inOrder(screen, "❯ two waits", "three waits", "one waits") && !strings.Contains(screen, "after this turn")
	})
	if screen := s.Screen(); strings.Contains(screen, "changed since") {
		t.Errorf("a change was refused:\n%s", screen)
	}
}
