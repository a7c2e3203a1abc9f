package tui

import (
	"testing"

	"scorel/client"
	"scorel/protocol"
)

func TestATurnThatFollowsACancelledOneCanBeCancelledToo(t *testing.T) {
	m := &Model{projection: client.NewProjection()}
	runs := func(turn protocol.TurnID) {
		m.projection.Apply(client.Update{Fresh: true}, &protocol.Live{Running: turn != "", TurnID: turn})
	}
	if runs(""); m.mayCancel() {
		t.Error("nothing runs, and Escape would cancel it")
	}
	if runs("turn_a"); !m.mayCancel() {
		t.Error("a turn that runs cannot be cancelled")
	}
	if m.cancelling = "turn_a"; m.mayCancel() {
		t.Error("a turn that is being cancelled is cancelled once more")
	}
	if runs("turn_b"); !m.mayCancel() { // one update tells of the end of one and the beginning of the other
		t.Error("the turn behind a cancelled one cannot be cancelled")
	}
}
