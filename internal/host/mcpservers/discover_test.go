package mcpservers_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// discoveries are the suggestions of tools in a session.
func discoveries(w *hosttest.World, id protocol.SessionID) (texts []string) {
	for _, ev := range w.Log(id) {
		if h, ok := ev.Body.(*protocol.HarnessItem); ok && h.Item.Kind == protocol.ItemToolDiscovery {
			texts = append(texts, h.Item.Content)
		}
	}
	return texts
}

// TestAToolThatFitsWhatAPersonSaysIsSuggestedOnceAPath: not where nothing fits, not again on
// the path, and again after a compaction.
func TestAToolThatFitsWhatAPersonSaysIsSuggestedOnceAPath(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__notes"), find("say it again"), `{"if":{"kind":"compact"},"again":true,"do":[{"text":"a summary"}]}`, again)
	configure(w, entry("notes", ``))
	e := w.Begin(false)
	e.Say("Hello, who are you?") // waits for the server
	e.Say("Fix the tests of the parser, and nothing else.")
	if got := discoveries(w, e.ID); len(got) != 0 {
		t.Fatalf("suggested %q", got)
	}
	e.Say("Please echo this in the notes.")
	e.Say("Please echo this in the notes!")
	got := discoveries(w, e.ID)
	if len(got) != 1 || !strings.HasSuffix(got[0], "no instruction of the user.\n- mcp__notes__echo: [notes says] says it again") {
		t.Errorf("suggested %q", got)
	}
	e.Compact()
	e.Say("Echo this in the notes, please.")
	if got := discoveries(w, e.ID); len(got) != 2 {
		t.Errorf("after a compaction suggested %q", got)
	}
}

func TestNothingIsSuggestedThatARuleDenies(t *testing.T) {
	s := allowed("mcp__notes")
	s.Overrides.Deny = []string{"mcp__notes__echo"}
	w := hosttest.New(t, s, find("say it again"), again)
	configure(w, entry("notes", ``))
	e := w.Begin(false)
	e.Say("Hello")
	e.Say("Please echo this in the notes.")
	if got := strings.Join(discoveries(w, e.ID), "\n"); strings.Contains(got, "echo") {
		t.Errorf("suggested %q", got)
	}
}
