package tui_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Calls of Bash that are asked for.
const (
	touches = `{"if":{"user":"^touch"},"do":[{"call":"Bash","input":{"command":"touch seen.txt"}}],"again":true}`
	others  = `{"if":{"user":"^other"},"do":[{"call":"Bash","input":{"command":"touch other.txt"}}],"again":true}`
)

// answers waits for the nth answer of the model.
func (s *terminal) answers(n int) string {
	return s.Wait(itoa(n)+" answers", func(screen string) bool { return strings.Count(screen, "Understood.") == n })
}

func TestACallThatIsAllowedForTheSessionIsAskedForOnce(t *testing.T) {
	w := newWorld(t, touches, others)
	s := w.open()
	s.say("touch it")
	s.WaitFor("May Bash run?", "touch seen.txt", "❯ 1. Allow once", "2. Allow Bash(touch seen.txt) for this session")
	s.Type("2")
	s.answers(1)
	s.say("touch it again")
	s.answers(2) // nobody has answered a question
	s.say("other one")
	s.WaitFor("May Bash run?", "touch other.txt", "❯ 1. Allow once")
	s.Keys("Escape")
	s.answers(3)
	s.say("/new")
	s.say("touch in another session")
	s.WaitFor("May Bash run?", "touch seen.txt", "❯ 1. Allow once")
	if rules, err := os.ReadFile(filepath.Join(w.home, ".scorel", "rules.json")); err == nil && strings.Contains(string(rules), "touch") {
		t.Errorf("it was written down: %s", rules)
	}
}

func TestTheRuleOfAlwaysIsWrittenAsItWasShownAndCountsInLaterSessions(t *testing.T) {
	w := newWorld(t, touches)
	s := w.open()
	s.say("touch it")
	screen := s.WaitFor("May Bash run?", "❯ 1. Allow once", "3. Always allow ")
	_, rest, _ := strings.Cut(screen, "3. Always allow ")
	shown, _, _ := strings.Cut(rest, " in this project\n")
	s.Type("3")
	s.answers(1)
	var written struct {
		Projects map[string]struct{ Allow []string }
	}
	err := json.Unmarshal([]byte(readAll(t, filepath.Join(w.home, ".scorel", "rules.json"))), &written)
	if allowed := written.Projects[w.project].Allow; err != nil || !slices.Equal(allowed, []string{shown}) {
		t.Errorf("%q was shown, %q is written (%v)", shown, allowed, err)
	}
	s.say("/new")
	s.say("touch in another session")
	s.answers(2)
}

func TestTheModelIsToldWhyItsCallWasRefused(t *testing.T) {
	w := newWorld(t, touches, `{"if":{"result":"use the other file"},"do":[{"text":"I use the other file then."}]}`)
	s := w.open()
	s.say("touch it")
	s.WaitFor("May Bash run?", "❯ 1. Allow once", "5. No, and say why")
	s.Type("5")
	s.WaitFor("No, because:")
	s.Type("use the other file")
	s.WaitFor("because: use the other file")
	s.Keys("Enter")
	s.WaitFor("I use the other file then.")
	if _, err := os.Stat(filepath.Join(w.project, "seen.txt")); err == nil {
		t.Error("the call has run")
	}
}
