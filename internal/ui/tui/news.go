package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"scorel/client"
	"scorel/protocol"
)

const (
	maxPending = 4096 // updates of a session that the model has not taken; then its subscription waits
	// streamEvery is the least time between two frames that show no more than another
	// piece of what streams in: nobody reads faster, and keys are echoed between them.
	streamEvery = time.Second / 30
)

// update is what came of a session: err says that nothing follows.
type update struct {
	gen int
	client.Update
	live protocol.Live
	err  error
}

// news holds the updates that the model has not taken. One message tells of any number
// of them, so that a fast stream costs no more than the frames that show it: pieces of a
// stream are told of every streamEvery, all else at once.
type news struct {
	send func(tea.Msg)

	mu      sync.Mutex // nothing is waited for under it
	room    *sync.Cond
	gen     int
	pending []update
	told    bool
	piece   time.Time   // when a piece of a stream was told of last
	later   *time.Timer // tells of pieces; nil while none wait
}

func newNews(send func(tea.Msg)) *news {
	n := &news{send: send}
	n.room = sync.NewCond(&n.mu)
	return n
}

// begin drops what came of the sessions before.
func (n *news) begin(gen int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gen, n.pending = gen, nil
	n.room.Broadcast()
}

// put adds an update, and waits for room. It says false when ctx has ended.
func (n *news) put(ctx context.Context, u update) bool {
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
	if u.gen == n.gen {
		n.pending = append(n.pending, u)
	}
	tell := !n.told && len(n.pending) > 0
	if tell && u.piece() {
		now := time.Now()
		if wait := streamEvery - now.Sub(n.piece); wait > 0 {
			tell = false
			if n.later == nil {
				n.later = time.AfterFunc(wait, n.tellPieces)
			}
		} else {
			n.piece = now
		}
	}
	n.told = n.told || tell
	n.mu.Unlock()
	if tell {
		n.send(arrived{})
	}
	return true
}

// tellPieces tells of pieces that have waited, unless the model has them.
func (n *news) tellPieces() {
	n.mu.Lock()
	n.later, n.piece = nil, time.Now()
	tell := !n.told && len(n.pending) > 0
	n.told = n.told || tell
	n.mu.Unlock()
	if tell {
		n.send(arrived{})
	}
}

// piece says that an update is nothing but more of what streams in.
func (u *update) piece() bool {
	if u.err != nil || u.Fresh || u.Resync != "" || len(u.Events) == 0 {
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

// take gives all that came. The model calls it.
func (n *news) take() []update {
	n.mu.Lock()
	defer n.mu.Unlock()
	taken := n.pending
	n.pending, n.told = nil, false
	n.room.Broadcast()
	return taken
}
