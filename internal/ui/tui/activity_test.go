package tui_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestACommandOfAnExtensionIsNamedWhileItRuns(t *testing.T) {
	h := newHarness(t)
	h.WriteUser("extensions/long.js", `export default (pi) => pi.registerCommand("long", { handler: () => new Promise(() => {}) });
`)
	s := h.Open()
	s.Say("/long")
	screen := s.WaitFor("Running /long")
	if strings.Contains(screen, "Asking the model") {
		t.Errorf("no model is asked:\n%s", screen)
	}
	s.Keys("Escape")
	s.Gone("Running /long")
}

func TestATerminalThatJoinsCountsFromTheBeginningOfTheTurn(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"wait"},"do":[{"hang":true}]}`)
	s := h.Open()
	s.Say("wait")
	s.WaitFor("Asking the model (3s)")
	other := h.Open()
	screen := other.WaitFor("Asking the model (")
	m := regexp.MustCompile(`Asking the model \((\d+)s\)`).FindStringSubmatch(screen)
	if m == nil {
		t.Fatalf("no seconds:\n%s", screen)
	}
	if n, err := strconv.Atoi(m[1]); err != nil || n < 3 {
		t.Errorf("the turn is said to run for %s s", m[1])
	}
	s.Keys("Escape")
	other.Gone("Asking the model")
}
