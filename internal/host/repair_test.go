package host_test

import (
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
