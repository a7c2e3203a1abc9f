package tui_test

import (
	"regexp"
	"scorel/internal/ui/tui/tuitest"
	"strconv"
	"strings"
	"testing"
)

// context waits until the status line says how many thousand tokens the context has, and
// that holds.
func context(s *tuitest.UI, what string, holds func(thousands float64) bool) {
	figure := regexp.MustCompile(`([0-9.]+)k in context`)
	s.Wait(what, func(screen string) bool {
		found := figure.FindStringSubmatch(screen)
		if found == nil {
			return false
		}
		n, err := strconv.ParseFloat(found[1], 64)
		return err == nil && holds(n)
	})
}

func TestTheContextFigureIsThatOfThePathAfterARewindAndACompaction(t *testing.T) {
	h := newHarness(t, `{"if":{"user":"long"},"do":[{"text":"`+strings.Repeat("So it goes on. ", 16_000)+`"}],"again":true}`)
	s := h.Open()
	s.Say("short")
	s.WaitFor("Understood.")
	s.Say("a long one")
	context(s, "the figure of a long answer", func(n float64) bool { return n > 40 })
	s.Gone("esc to cancel") // which the first would do while the turn runs
	s.Keys("Escape", "Escape")
	s.WaitFor("Tree", "❯ ● you: a long one")
	s.Keys("Enter")
	s.WaitFor("1. Edit this message and send it again")
	s.Keys("Enter")
	s.WaitFor("Leave the rest without a summary")
	s.Keys("Enter")
	s.Gone("Leave the rest without a summary")
	context(s, "the figure of the path that is left", func(n float64) bool { return n < 20 })
	s.Keys("C-u")
	s.Say("another long one")
	context(s, "the figure of a long answer again", func(n float64) bool { return n > 40 })
	s.Say("short again")
	waitAnswers(s, 1) // the long answer fills the screen above it
	s.Say("/compact")
	s.WaitFor("Compacted: ")
	context(s, "the figure behind the compaction", func(n float64) bool { return n < 20 })
}

func TestAHomeAsTheWorkspaceIsAskedForOnce(t *testing.T) {
	h := newHarness(t)
	h.Project = h.Home
	h.Write(h.Home+"/notes.txt", "mine\n")
	s := h.Open()
	s.WaitFor("Work in ", "is your whole home folder", "No; start scorel in a project's folder")
	s.Until("no session was started in", "Escape")
	s.Say("hello")
	s.WaitFor("is your whole home folder", "1. Yes, and do not ask again") // nothing runs before it is said
	s.Until("is the workspace", "1")
	s.WaitFor("❯ hello")
	s.Keys("Enter")
	waitAnswers(s, 1)
	s.Keys("C-d")
	again := h.Open()
	again.Say("once more")
	if screen := waitAnswers(again, 1); strings.Contains(screen, "your whole home folder") {
		t.Error("it is asked again:\n" + screen)
	}
}
