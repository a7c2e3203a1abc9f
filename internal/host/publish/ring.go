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
	slots []slot
	head  int // the first slot that counts; those before it are empty
	bytes int
	// passed is the highest seq that is no longer here.
	passed protocol.Seq
}

// slot is an event with what it counts as, in bytes.
type slot struct {
	event protocol.Event
	size  int
}

func (r *ring) add(e protocol.Event, size int) {
	if size > maxInRing {
		r.reset()
		r.passed = e.Seq
		return
	}
	r.slots = append(r.slots, slot{e, size})
	r.bytes += size
	for r.bytes > maxRing && r.head < len(r.slots)-1 {
		r.passed = r.slots[r.head].event.Seq
		r.bytes -= r.slots[r.head].size
		r.slots[r.head] = slot{}
		r.head++
	}
	if r.head > len(r.slots)/2 { // so each event is moved once at most
		n := copy(r.slots, r.slots[r.head:])
		clear(r.slots[n:])
		r.slots, r.head = r.slots[:n], 0
	}
}

func (r *ring) reset() {
	if n := len(r.slots); n > r.head {
		r.passed = r.slots[n-1].event.Seq
	}
	r.slots, r.head, r.bytes = nil, 0, 0
}

// after gives a copy of the events behind a seq, nil when there are none.
func (r *ring) after(seq protocol.Seq) []protocol.Event {
	all := r.slots[r.head:]
	all = all[sort.Search(len(all), func(i int) bool { return all[i].event.Seq > seq }):]
	if len(all) == 0 {
		return nil
	}
	out := make([]protocol.Event, len(all))
	for i := range all {
		out[i] = all[i].event
	}
	return out
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
		out := p.ring.after(c.last)
		moved := p.moved
		p.mu.Unlock()
		switch {
		case out != nil:
			c.last = out[len(out)-1].Seq
			return out, nil
		case moved == nil:
			return nil, ErrClosed
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
