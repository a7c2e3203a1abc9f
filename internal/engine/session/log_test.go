package session

import (
	"context"
	"testing"

	"scorel/protocol"
)

func TestCommittedEventsAreThereAfterReopen(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	a := w.user("", "hello")
	b := w.assistant(a.ID, "hi")
	if err := log.Commit(t.Context(), []protocol.Event{a, b}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	log, report := w.open(t)
	if !report.Clean() {
		t.Fatal(report.Sentences())
	}
	if got := log.Index().Leaf(); got != b.ID {
		t.Fatalf("leaf %s, want %s", got, b.ID)
	}
	var texts []string
	for ev, err := range log.Index().Back(context.Background(), b.ID) {
		if err != nil {
			t.Fatal(err)
		}
		m, _ := ev.Message()
		texts = append(texts, m.PlainText())
	}
	if len(texts) != 2 || texts[0] != "hi" || texts[1] != "hello" {
		t.Fatal(texts)
	}

}
