package conversation

import (
	"testing"
	"time"

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

func TestATurnBeginsWhenTheHostSaysUnlessItsClockIsAnother(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	for name, c := range map[string]struct {
		at            int64
		remote, fresh bool
		want          int64
	}{
		"joined":                {at: 900_000, fresh: true, want: 900_000},
		"seen":                  {at: 999_000, want: 999_000},
		"joined, elsewhere":     {at: 900_000, remote: true, fresh: true, want: 900_000},
		"seen, elsewhere":       {at: 900_000, remote: true, want: 1_000_000},
		"a clock that is ahead": {at: 2_000_000, remote: true, fresh: true, want: 1_000_000},
		"an older host":         {fresh: true, want: 1_000_000},
	} {
		v := New(Config{Transcript: transcript.New(transcript.Config{}), Remote: c.remote})
		v.begins(c.at, c.fresh, now)
		if got := v.Began().UnixMilli(); got != c.want {
			t.Errorf("%s: %d", name, got)
		}
	}
}
