package tui_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"scorel/internal/ui/tui/tuitest"
	"slices"
	"strings"
	"testing"
)

// Calls of Bash that are asked for.
const (
	touches = `{"if":{"user":"^touch"},"do":[{"call":"Bash","input":{"command":"touch seen.txt"}}],"again":true}`
	others  = `{"if":{"user":"^other"},"do":[{"call":"Bash","input":{"command":"touch other.txt"}}],"again":true}`
)

// waitAnswers waits for the nth answer of the model and the end of its turn.
func waitAnswers(s *tuitest.UI, n int) string { return s.Answered("Understood.", n) }

func TestACallThatIsAllowedForTheSessionIsAskedForOnce(t *testing.T) {
	h := newHarness(t, touches, others)
	s := h.Open()
	s.Say("touch it")
	s.WaitFor("Run this command?", "touch seen.txt", "❯ 1. Allow once", "2. Allow Bash(touch seen.txt) for this session")
	s.Type("2")
	waitAnswers(s, 1)
	s.Say("touch it again")
	waitAnswers(s, 2) // nobody has answered a question
	s.Say("other one")
	s.WaitFor("Run this command?", "touch other.txt", "❯ 1. Allow once")
	s.Keys("Escape")
	waitAnswers(s, 3)
	s.Say("/new")
	s.Say("touch in another session")
	s.WaitFor("Run this command?", "touch seen.txt", "❯ 1. Allow once")
	if rules, err := os.ReadFile(filepath.Join(h.Home, ".scorel", "rules.json")); err == nil && strings.Contains(string(rules), "touch") {
		t.Errorf("it was written down: %s", rules)
	}
}

func TestTheRuleOfAlwaysIsWrittenAsItWasShownAndCountsInLaterSessions(t *testing.T) {
	h := newHarness(t, touches)
	s := h.Open()
	s.Say("touch it")
	screen := s.WaitFor("Run this command?", "❯ 1. Allow once", "3. Always allow ")
	_, rest, _ := strings.Cut(screen, "3. Always allow ")
	shown, _, _ := strings.Cut(rest, " in this project\n")
	s.Type("3")
	waitAnswers(s, 1)
	var written struct {
		Projects map[string]struct{ Allow []string }
	}
	err := json.Unmarshal([]byte(h.Read(filepath.Join(h.Home, ".scorel", "rules.json"))), &written)
	if allowed := written.Projects[h.Project].Allow; err != nil || !slices.Equal(allowed, []string{shown}) {
		t.Errorf("%q was shown, %q is written (%v)", shown, allowed, err)
	}
	s.Say("/new")
	s.Say("touch in another session")
	waitAnswers(s, 2)
}

func TestTheModelIsToldWhyItsCallWasRefused(t *testing.T) {
	h := newHarness(t, touches, `{"if":{"result":"use the other file"},"do":[{"text":"I use the other file then."}]}`)
	s := h.Open()
	s.Say("touch it")
	s.WaitFor("Run this command?", "❯ 1. Allow once", "5. No, with a reason")
	s.Type("5")
	s.WaitFor("No, because:")
	s.Type("use the other file")
	s.WaitFor("because: use the other file")
	s.Keys("Enter")
	s.WaitFor("I use the other file then.")
	if _, err := os.Stat(filepath.Join(h.Project, "seen.txt")); err == nil {
		t.Error("the call has run")
	}
}
