package tui_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// context waits until the status line says how many thousand tokens the context has, and
// that holds.
func (s *terminal) context(what string, holds func(thousands float64) bool) {
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
	w := newWorld(t, `{"if":{"user":"long"},"do":[{"text":"`+strings.Repeat("So it goes on. ", 16_000)+`"}],"again":true}`)
	s := w.open()
	s.say("short")
	s.WaitFor("Understood.")
	s.say("a long one")
	s.context("the figure of a long answer", func(n float64) bool { return n > 40 })
	s.Keys("Escape", "Escape")
	s.WaitFor("Tree", "❯ ● you: a long one")
	s.Keys("Enter")
	s.WaitFor("1. Edit this message and send it again")
	s.Keys("Enter")
	s.WaitFor("Leave the rest without a summary")
	s.Keys("Enter")
	s.gone("Leave the rest without a summary")
	s.context("the figure of the path that is left", func(n float64) bool { return n < 20 })
	s.Keys("C-u")
	s.say("another long one")
	s.context("the figure of a long answer again", func(n float64) bool { return n > 40 })
	s.say("short again")
	s.Wait("its answer", func(screen string) bool { return strings.Contains(screen, "Understood.") })
	s.say("/compact")
	s.WaitFor("compacted: ")
	s.context("the figure behind the compaction", func(n float64) bool { return n < 20 })
}

func TestAHomeAsTheWorkspaceIsAskedForOnce(t *testing.T) {
	w := newWorld(t)
	w.project = w.home
	w.write(w.home+"/notes.txt", "mine\n")
	s := w.open()
	s.WaitFor("Work in ", "is your whole home folder", "No; start scorel in a project's folder")
	s.until("nothing is begun in", "Escape")
	s.say("hello")
	s.WaitFor("is your whole home folder", "1. Yes, and do not ask again") // nothing runs before it is said
	s.until("is the workspace", "1")
	s.WaitFor("❯ hello")
	s.Keys("Enter")
	s.answers(1)
	s.Keys("C-d")
	again := w.open()
	again.say("once more")
	if screen := again.answers(1); strings.Contains(screen, "your whole home folder") {
		t.Error("it is asked again:\n" + screen)
	}
}
