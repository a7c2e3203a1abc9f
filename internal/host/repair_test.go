package host_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"scorel/protocol"
)

// damagedSession writes a session whose damaged end may have moved the leaf, and gives
// the last of its events that is whole.
func (w *world) damagedSession() (protocol.SessionID, protocol.EventID) {
	w.t.Helper()
	id, events := w.written(10, 10)
	name := filepath.Join(w.home, ".scorel", "sessions", string(id)+".jsonl")
	w.write(name, string(w.readAll(name))+"{\"type\":\"rewind\",\"id\":\"evt_\x00\x00\n{\"type\":\"mess\x00\n")
	return id, events[1].ID
}

func TestAServingHostRepairsASessionThatItKeepsOpen(t *testing.T) {
	w := servingWorld(t, setting{})
	c := w.plug("c", false, protocol.GrantControl)
	id, leaf := w.damagedSession()
	c.open(id, nil, 0)
	c.do(id, &protocol.CloseSession{})
	if _, err := c.try(id, &protocol.RepairSession{}); err == nil || err.Code != protocol.CodeStorageError {
		t.Errorf("without a leaf: %v", err)
	}
	c.open(id, nil, 0)
	c.do(id, &protocol.CloseSession{})
	if _, err := c.try(id, &protocol.RepairSession{LeafEventID: leaf}); err != nil {
		t.Fatalf("with a leaf: %v", err)
	}
	name := "n"
	c.do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}}) // it is writable
}

func TestASessionIsNotRepairedWhileAClientHasItOpen(t *testing.T) {
	w := servingWorld(t, setting{})
	c := w.plug("c", false, protocol.GrantControl)
	id, leaf := w.damagedSession()
	c.open(id, nil, 0)
	_, err := c.try(id, &protocol.RepairSession{LeafEventID: leaf})
	if err == nil || err.Code != protocol.CodeSessionLocked || !strings.Contains(err.Message, "leave it there before you repair it") {
		t.Fatalf("repaired while it is open: %v", err)
	}
}

func TestASessionThatWaitsForItsLeafSaysSoToAClient(t *testing.T) {
	w := servingWorld(t, setting{})
	c := w.plug("c", false, protocol.GrantControl)
	id, leaf := w.damagedSession()
	opened := c.do(id, &protocol.OpenSession{}).(*protocol.SessionOpened)
	if !opened.NeedsLeaf || opened.ReadOnly == "" || len(opened.Findings) == 0 {
		t.Fatalf("opened as %+v", opened)
	}
	_, err := c.try(id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("go on")}})
	var d protocol.FieldDetails
	if err == nil || err.Code != protocol.CodeStorageError || json.Unmarshal(err.Details, &d) != nil || d.Reason != protocol.ReasonLeaf {
		t.Fatalf("a message is answered with %v, %s", err, err.Details)
	}
	c.do(id, &protocol.CloseSession{})
	r := c.do(id, &protocol.RepairSession{LeafEventID: leaf}).(*protocol.SessionReport)
	if !r.Sound || len(r.Findings) == 0 {
		t.Fatalf("repaired: %+v", r)
	}
	if again := c.do(id, &protocol.OpenSession{}).(*protocol.SessionOpened); again.NeedsLeaf || len(again.Findings) != 0 {
		t.Fatalf("opened again as %+v", again)
	}
}
