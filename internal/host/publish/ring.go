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

// maxInRing is the largest persistent event that is kept whole in the ring, in
// bytes; of a larger one only its envelope is, which says where the log has it.
const maxInRing = 256 << 10

// Bytes that events count as.
const (
	transientSize = 256 // a transient one besides what it carries
	placeSize     = 256 // one that stands in the ring as its place in the log
)

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
	if size > maxInRing && !e.IsTransient() {
		e, size = protocol.Event{Envelope: e.Envelope}, placeSize
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

// Size is what an event counts as where events are bounded by bytes: about its
// length on the wire.
func Size(e protocol.Event) int {
	if raw := e.Raw(); raw != nil {
		return len(raw)
	}
	n := transientSize
	switch b := e.Body.(type) {
	case *protocol.TextDelta:
		n += len(b.Delta)
	case *protocol.ThinkingDelta:
		n += len(b.Delta)
	case *protocol.ToolCallDelta:
		n += len(b.Delta)
	case *protocol.ToolExecutionStart:
		n += len(b.Args)
	case *protocol.ToolExecutionUpdate:
		n += len(b.Partial)
	case *protocol.PermissionRequest:
		n += len(b.Args)
	case *protocol.ToolProcess:
		n += len(b.Event)
	case *protocol.UIRequest:
		for _, q := range b.Data.Questions {
			n += len(q.Question) + len(q.Header)
			for _, o := range q.Options {
				n += len(o.Label) + len(o.Description)
			}
		}
	}
	return n
}

// ErrEpoch says that something was lost and a new epoch has begun: all that was
// running is void, and the cursor goes on behind [Cursor.Restart].
var ErrEpoch = errors.New("publish: a new epoch has begun")

// Cursor reads the events of a session at its own pace. It belongs to one
// goroutine.
type Cursor struct {
	p     *Publisher
	epoch protocol.Epoch
	last  protocol.Seq
}

// Cursor starts at the present moment and gives the state as of it: what Next
// gives follows that state without gap or repetition.
func (p *Publisher) Cursor() (*Cursor, protocol.Live) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &Cursor{p: p, epoch: p.epoch, last: p.live.ThroughSeq}, p.live.Clone()
}

// Restart moves the cursor to where the epoch began and gives the state as of
// then, as [Publisher.Cursor] does for the present.
func (c *Cursor) Restart() protocol.Live {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	c.epoch, c.last = p.epoch, p.begun.ThroughSeq
	return p.begun.Clone()
}

// Next waits for events behind the last one and gives them all. A persistent
// event without a body stands for one that is large: the log has it, under its
// id. Next returns [ErrEpoch] when all events of an epoch that has ended were
// given, [ErrGap] when the caller has to read from the log and take a new cursor,
// and [ErrClosed] when the publisher is closed and everything was given.
func (c *Cursor) Next(ctx context.Context) ([]protocol.Event, error) {
	for {
		p := c.p
		p.mu.Lock()
		if c.last < p.ring.passed {
			p.mu.Unlock()
			return nil, ErrGap
		}
		out, over := p.ring.after(c.last), c.epoch != p.epoch
		if over { // no further than the old one goes
			out = out[:sort.Search(len(out), func(i int) bool { return out[i].Seq > p.begun.ThroughSeq })]
		}
		moved := p.moved
		p.mu.Unlock()
		switch {
		case len(out) > 0:
			c.last = out[len(out)-1].Seq
			return out, nil
		case over:
			return nil, ErrEpoch
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
