package link

import (
	"context"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/protocol"
)

const (
	maxPending = 4096 // updates of a session that the UI has not taken; then its subscription waits
	// streamEvery is the least time between two frames that show no more than another
	// piece of what streams in: nobody reads faster, and keys are echoed between them.
	streamEvery = time.Second / 30
)

// Update is what came of a session. After one with an error none follows.
type Update struct {
	Gen int // of the session (see [Opened])
	client.Update
	Live protocol.Live // the state of the session, where the update is fresh
	Err  error
}

// notifications holds the updates that the UI has not taken. One message announces any
// number of them, so that a fast stream costs no more than the frames that show it: pieces
// of a stream are announced every streamEvery, all else at once.
type notifications struct {
	send func(tea.Msg)

	mu       sync.Mutex // nothing is waited for under it
	room     *sync.Cond
	gens     []int // of the sessions that are followed
	pending  []Update
	notified bool        // the UI has a message of what is pending
	piece    time.Time   // when a piece of a stream was announced last
	later    *time.Timer // announces pieces; nil while none wait
}

func newNotifications(send func(tea.Msg)) *notifications {
	n := &notifications{send: send}
	n.room = sync.NewCond(&n.mu)
	return n
}

// begin has the updates of sessions kept, and drops what came of others.
func (n *notifications) begin(gens ...int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gens = gens
	n.pending = slices.DeleteFunc(n.pending, func(u Update) bool { return !slices.Contains(gens, u.Gen) })
	n.room.Broadcast()
}

// put adds an update, and waits for room. It reports false when ctx has ended.
func (n *notifications) put(ctx context.Context, u Update) bool {
	stop := context.AfterFunc(ctx, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.room.Broadcast()
	})
	defer stop()
	n.mu.Lock()
	for len(n.pending) >= maxPending && ctx.Err() == nil {
		n.room.Wait()
	}
	if ctx.Err() != nil {
		n.mu.Unlock()
		return false
	}
	if slices.Contains(n.gens, u.Gen) {
		n.pending = append(n.pending, u)
	}
	notify := !n.notified && len(n.pending) > 0
	if notify && u.piece() {
		now := time.Now()
		if wait := streamEvery - now.Sub(n.piece); wait > 0 {
			notify = false
			if n.later == nil {
				n.later = time.AfterFunc(wait, n.notifyPieces)
			}
		} else {
			n.piece = now
		}
	}
	n.notified = n.notified || notify
	n.mu.Unlock()
	if notify {
		n.send(Arrived{})
	}
	return true
}

// notifyPieces announces pieces that have waited, unless the UI has them.
func (n *notifications) notifyPieces() {
	n.mu.Lock()
	n.later, n.piece = nil, time.Now()
	notify := !n.notified && len(n.pending) > 0
	n.notified = n.notified || notify
	n.mu.Unlock()
	if notify {
		n.send(Arrived{})
	}
}

// piece reports whether an update is nothing but more of what streams in.
func (u *Update) piece() bool {
	if u.Err != nil || u.Fresh || u.Resync != "" || len(u.Events) == 0 {
		return false
	}
	for _, e := range u.Events {
		switch e.Body.(type) {
		case *protocol.TextDelta, *protocol.ThinkingDelta, *protocol.ToolCallDelta, *protocol.ToolExecutionUpdate:
		default:
			return false
		}
	}
	return true
}

// take returns all that came. The UI calls it.
func (n *notifications) take() []Update {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.pending
	n.pending, n.notified = nil, false
	n.room.Broadcast()
	return taken
}
