package tui_test

import (
	"strings"
	"testing"
)

func TestShiftTabWhileAListIsOpenChangesNoMode(t *testing.T) {
	h := newHarness(t)
	s := h.Open()
	s.Say("/model")
	s.WaitFor("type to search them")
	s.Keys("BTab")
	s.Type("zzz")
	screen := s.WaitFor("zzz")
	if strings.Contains(screen, "accepts edits") {
		t.Errorf("the mode changed below the list:\n%s", screen)
	}
	s.Keys("Escape") // what was typed, then the list
	s.WaitFor("type to search them")
	s.Keys("Escape")
	s.Gone("type to search them")
	s.Keys("BTab")
	s.WaitFor("accepts edits")
}

func TestALongReasonForADenialIsWrappedWhole(t *testing.T) {
	reason := "because " + strings.Repeat("this word ", 20) + "is the end of it"
	h := newHarness(t, `{"if":{"user":"^run"},"do":[{"call":"Bash","input":{"command":"make all"}}]}`)
	s := h.Open()
	s.Say("run it")
	s.WaitFor("Run this command?", "❯ 1. Allow once")
	s.Keys("Tab")
	s.WaitFor("No, because:")
	s.Type(reason)
	s.Keys("Enter")
	screen := s.WaitFor("You denied this:", "is the end of it")
	var words []string
	for line := range strings.Lines(screen) {
		if len([]rune(strings.TrimRight(line, "\n"))) > 100 {
			t.Errorf("a line is wider than the window: %q", line)
		}
		words = append(words, strings.Fields(strings.Trim(strings.TrimSpace(line), "│⎿└"))...)
	}
	if got := strings.Join(words, " "); !strings.Contains(got, reason) {
		t.Errorf("the reason is not whole:\n%s", screen)
	}
}
