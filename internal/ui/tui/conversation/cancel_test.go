package conversation

import (
	"testing"

	"scorel/client"
	"scorel/internal/ui/tui/transcript"
	"scorel/protocol"
)

func TestTurnAfterACancelledOneCanBeCancelled(t *testing.T) {
	m := New(Config{Transcript: transcript.New(transcript.Config{})})
	runs := func(turn protocol.TurnID) {
		m.projection.Apply(client.Update{Fresh: true}, &protocol.Live{Running: turn != "", TurnID: turn})
	}
	if runs(""); m.MayCancel() {
		t.Error("nothing runs, and Escape would cancel it")
	}
	if runs("turn_a"); !m.MayCancel() {
		t.Error("a turn that runs cannot be cancelled")
	}
	if m.turn.cancelling = "turn_a"; m.MayCancel() {
		t.Error("a turn that is being cancelled is cancelled once more")
	}
	if runs("turn_b"); !m.MayCancel() { // one update tells of the end of one and the beginning of the other
		t.Error("the turn behind a cancelled one cannot be cancelled")
	}
}
