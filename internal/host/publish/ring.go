package publish

import (
	"context"
	"errors"
	"sort"

	"scorel/protocol"
)

// maxRing bounds the events that a publisher keeps for its cursors, in bytes.
// The oldest go first; a cursor that missed them goes on from the log.
const maxRing = 2 << 20

// maxInRing is the largest event that is kept in the ring; a larger one ends it
// there, so that cursors read it from the log.
const maxInRing = 256 << 10

// ErrGap says that a cursor has to go on from the log: the ring has passed it.
var ErrGap = errors.New("publish: the ring no longer holds what follows")

// ring holds the newest events in the order of seq.
type ring struct {
	events []protocol.Event
	sizes  []int
	bytes  int
	// passed is the highest seq that is no longer here.
	passed protocol.Seq
}

func (r *ring) add(e protocol.Event, size int) {
	if size > maxInRing {
		r.reset()
		r.passed = e.Seq
		return
	}
	r.events = append(r.events, e)
	r.sizes = append(r.sizes, size)
	r.bytes += size
	drop := 0
	for r.bytes > maxRing && drop < len(r.events)-1 {
		r.bytes -= r.sizes[drop]
		drop++
	}
	if drop > 0 {
		r.passed = r.events[drop-1].Seq
		r.events = append([]protocol.Event(nil), r.events[drop:]...)
		r.sizes = append([]int(nil), r.sizes[drop:]...)
	}
}

func (r *ring) reset() {
	if n := len(r.events); n > 0 {
		r.passed = r.events[n-1].Seq
	}
	r.events, r.sizes, r.bytes = nil, nil, 0
}

// Cursor reads the events of a session at its own pace. It belongs to one
// goroutine.
type Cursor struct {
	p    *Publisher
	last protocol.Seq
}

// Cursor starts at the present moment and gives the state as of it: what Next
// gives follows that state without gap or repetition.
func (p *Publisher) Cursor() (*Cursor, protocol.Live) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &Cursor{p: p, last: p.live.ThroughSeq}, p.live.Clone()
}

// Next waits for events behind the last one and gives them all. It returns
// [ErrGap] when the caller has to read from the log and take a new cursor, and
// [ErrClosed] when the publisher is closed and everything was given.
func (c *Cursor) Next(ctx context.Context) ([]protocol.Event, error) {
	for {
		p := c.p
		p.mu.Lock()
		if c.last < p.ring.passed {
			p.mu.Unlock()
			return nil, ErrGap
		}
		all := p.ring.events
		first := sort.Search(len(all), func(i int) bool { return all[i].Seq > c.last })
		if first < len(all) {
			out := append([]protocol.Event(nil), all[first:]...)
			c.last = out[len(out)-1].Seq
			p.mu.Unlock()
			return out, nil
		}
		moved := p.moved
		p.mu.Unlock()
		if moved == nil {
			return nil, ErrClosed
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
