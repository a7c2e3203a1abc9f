package session

import (
	"context"
	"errors"
	"testing"

	"scorel/internal/engine/session/owner"
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

// Another machine that shares the folder takes a session over when this one has slept for long.
func TestCommitIsRefusedOnceAnotherHostHasTakenTheSessionOver(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	a := w.user("", "hello")
	if err := log.Commit(t.Context(), []protocol.Event{a}); err != nil {
		t.Fatal(err)
	}
	before := string(w.mem.Bytes(w.logName()))
	w.mem.TakeOver("/home/.scorel/sessions/"+string(w.id)+".lock", owner.Owner{PID: 77, Command: "scorel host"}.Text())
	var held *LockedError
	if err := log.Commit(t.Context(), []protocol.Event{w.assistant(a.ID, "hi")}); !errors.As(err, &held) || held.Owner.PID != 77 {
		t.Fatalf("wrote into a log that another host has: %v", err)
	}
	if got := string(w.mem.Bytes(w.logName())); got != before {
		t.Errorf("the log has changed: %q", got[len(before):])
	}
}
