package session

import (
	"testing"

	"scorel/protocol"
)

func TestCloneDoesNotSayWaitingMessagesTwice(t *testing.T) {
	w := newWorld(t)
	log := w.create(t)
	defer func() { _ = log.Close() }()
	u := w.user("", "go")
	q := w.event(u.ID, &protocol.QueueUpdate{Queue: protocol.QueueFollowUp, Items: []protocol.QueueItem{{ID: "itm_0000000000000000", Content: []protocol.Block{protocol.Text("later")}, ClientID: "host"}}})
	if err := log.Commit(ctx(), []protocol.Event{u, q}); err != nil {
		t.Fatal(err)
	}
	h := w.header()
	h.SessionID = "ses_00000000000000000000000009"
	copied, _, err := w.store.Clone(ctx(), log.ID(), h)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	if copied.Index().Len() != 1 || !copied.Index().Has(u.ID) {
		t.Errorf("the clone has %d events", copied.Index().Len())
	}
}

// TestWhatFollowsAnImportIsNotImported takes in a log whose last event is left out, and copies
// the beginning of it: what is said and allowed afterwards is of this device.
func TestWhatFollowsAnImportIsNotImported(t *testing.T) {
	from := elsewhere(t)
	log := from.create(t)
	defer func() { _ = log.Close() }()
	one := from.user("", "one")
	two := from.user(one.ID, "two")
	queued := from.event(two.ID, &protocol.QueueUpdate{Queue: protocol.QueueFollowUp, Items: []protocol.QueueItem{}})
	if err := log.Commit(ctx(), []protocol.Event{one, two, queued}); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	imported, _, err := w.imports(t, from.export(t), ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = imported.Close() }()
	h := w.header()
	h.SessionID, h.ClonedFrom = "ses_00000000000000000000000009", &protocol.ClonedFrom{EventID: one.ID}
	mode := protocol.NewEvent(&protocol.SessionInfo{Mode: "plan"})
	mode.ClientID = protocol.HostClient
	copied, _, err := w.store.Clone(ctx(), imported.ID(), h, mode)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	if last := copied.Index().LastSeq(); copied.Index().Imported(last) {
		t.Errorf("the mode of the copy, %d, counts as imported", last)
	}
	for name, l := range map[string]*Log{"the import": imported, "the copy": copied} {
		if next := l.NextSeqFloor(); l.Index().Imported(next) || l.Index().Len() != 2 {
			t.Errorf("what follows in %s, %d, counts as imported (%d events)", name, next, l.Index().Len())
		}
	}
}
