package link

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/protocol"
)

// notified counts how often the UI is notified, and takes the updates as it does.
func notified(n *notifications) *atomic.Int64 {
	count := &atomic.Int64{}
	n.send = func(tea.Msg) {
		count.Add(1)
		n.take()
	}
	return count
}

func piece(gen int) Update {
	return Update{Gen: gen, Update: client.Update{Events: []protocol.Event{protocol.NewEvent(&protocol.TextDelta{Delta: "word "})}}}
}

func TestPiecesOfAStreamAreAnnouncedThirtyTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNotifications(nil)
		count := notified(n)
		n.begin(1)
		for range 2000 {
			n.put(t.Context(), piece(1))
			time.Sleep(500 * time.Microsecond)
		}
		time.Sleep(time.Second)
		if c := count.Load(); c < 28 || c > 32 {
			t.Errorf("the UI was notified %d times of a second of 2,000 pieces", c)
		}
		if left := n.take(); len(left) > 0 {
			t.Errorf("%d pieces were never announced", len(left))
		}
	})
}

func TestOtherUpdatesThanPiecesAreAnnouncedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNotifications(nil)
		count := notified(n)
		n.begin(1)
		n.put(t.Context(), piece(1)) // the first one is no later than anything else
		n.put(t.Context(), piece(1))
		if count.Load() != 1 {
			t.Fatalf("two pieces were announced %d times", count.Load())
		}
		n.put(t.Context(), Update{Gen: 1, Update: client.Update{Events: []protocol.Event{protocol.NewEvent(&protocol.RuntimeEnd{})}}})
		if count.Load() != 2 {
			t.Errorf("the end of the turn waits")
		}
		time.Sleep(time.Second)
		if count.Load() != 2 {
			t.Errorf("what the UI has is announced again")
		}
	})
}
