package library_test

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAServingHostRepairsASessionThatItKeepsOpen(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	c := w.Plug("c", false, protocol.GrantControl)
	id, leaf := w.DamagedSession()
	c.Open(id, nil, 0)
	c.Do(id, &protocol.CloseSession{})
	if _, err := c.Try(id, &protocol.RepairSession{}); err == nil || err.Code != protocol.CodeStorageError {
		t.Errorf("without a leaf: %v", err)
	}
	c.Open(id, nil, 0)
	c.Do(id, &protocol.CloseSession{})
	if _, err := c.Try(id, &protocol.RepairSession{LeafEventID: leaf}); err != nil {
		t.Fatalf("with a leaf: %v", err)
	}
	name := "n"
	c.Do(id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &name}}) // it is writable
}

func TestASessionIsNotRepairedWhileAClientHasItOpen(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	c := w.Plug("c", false, protocol.GrantControl)
	id, leaf := w.DamagedSession()
	c.Open(id, nil, 0)
	_, err := c.Try(id, &protocol.RepairSession{LeafEventID: leaf})
	if err == nil || err.Code != protocol.CodeSessionLocked || !strings.Contains(err.Message, "leave it there before you repair it") {
		t.Fatalf("repaired while it is open: %v", err)
	}
}

func TestASessionThatWaitsForItsLeafSaysSoToAClient(t *testing.T) {
	w := hosttest.ServingWorld(t, hosttest.Setting{})
	c := w.Plug("c", false, protocol.GrantControl)
	id, leaf := w.DamagedSession()
	opened := c.Do(id, &protocol.OpenSession{}).(*protocol.SessionOpened)
	if !opened.NeedsLeaf || opened.ReadOnly == "" || len(opened.Findings) == 0 {
		t.Fatalf("opened as %+v", opened)
	}
	_, err := c.Try(id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("go on")}})
	var d protocol.FieldDetails
	if err == nil || err.Code != protocol.CodeStorageError || json.Unmarshal(err.Details, &d) != nil || d.Reason != protocol.ReasonLeaf {
		t.Fatalf("a message is answered with %v, %s", err, err.Details)
	}
	c.Do(id, &protocol.CloseSession{})
	r := c.Do(id, &protocol.RepairSession{LeafEventID: leaf}).(*protocol.SessionReport)
	if !r.Sound || len(r.Findings) == 0 {
		t.Fatalf("repaired: %+v", r)
	}
	if again := c.Do(id, &protocol.OpenSession{}).(*protocol.SessionOpened); again.NeedsLeaf || len(again.Findings) != 0 {
		t.Fatalf("opened again as %+v", again)
	}
}
