package tui_test

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func TestHostileNamesOfSessionsAndModelsReachNoTerminal(t *testing.T) {
	h := newHarness(t)
	h.Store(protocol.Meta{}, "asked for "+evil, evil+" is the answer")
	h.Store(protocol.Meta{Name: "named " + evil, Model: evil}, "a prompt", "an answer with "+evil+" in it")
	r := record(t, h, h.Project)
	r.Say("/resume")
	r.WaitFor("Sessions · ", "asked for "+shownEvil, "named "+shownEvil)
	r.Type("answer with")
	r.WaitFor("said in", "answer with "+shownEvil)
	r.Keys("C-u")
	r.Type("named")
	r.WaitFor("❯ named " + shownEvil)
	r.Keys("Enter")
	r.WaitFor("❯ a prompt", "an answer with")
	r.Wait("the name in the status line", func(screen string) bool {
		return strings.Contains(lastLine(screen), "named a[U+001B]")
	})
	r.Wait("the name in the title", func(string) bool {
		return strings.HasPrefix(r.Format("#{pane_title}"), "named "+shownEvil)
	})
	r.Say("/tree")
	r.WaitFor("Tree · ")
	r.Shut("Tree · ")
	wantOnlyOurs(t, h, r)
}
