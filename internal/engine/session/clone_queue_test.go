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
