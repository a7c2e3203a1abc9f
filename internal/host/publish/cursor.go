package publish

import (
	"context"
	"errors"

	"scorel/protocol"
)

// Bounds of what [Cursor.Next] gives at once; it always gives one event.
const (
	BatchEvents = 256
	BatchBytes  = 64 << 10 // as Size counts
)

// ErrGap says that a cursor has to go on from the log: the ring has passed it.
var ErrGap = errors.New("publish: the ring no longer holds what follows")

// ErrEpoch says that something was lost and a new epoch has begun: all that was
// running is void, and the cursor goes on after [Cursor.Restart].
var ErrEpoch = errors.New("publish: a new epoch has begun")

// Cursor reads the events of a session at its own pace. It has to be placed, by
// [Cursor.Resume], [Cursor.Join] or [Cursor.Restart], before CatchUp and Next are
// called. It belongs to one goroutine, which closes it.
type Cursor struct {
	p     *Publisher
	wire  bool
	epoch protocol.Epoch
	last  protocol.Seq
}

// counts are the cursors that are not closed.
type counts struct {
	cursors int
	wire    int // of those, who marshal what they read
}

// Cursor makes a cursor that has no place yet. wire says that what it reads is
// marshalled: then each event is, once for all such cursors.
func (p *Publisher) Cursor(wire bool) *Cursor {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.cursors++
	if wire {
		p.counts.wire++
	}
	return &Cursor{p: p, wire: wire}
}

// Close ends the cursor. It is called once.
func (c *Cursor) Close() {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts.cursors--
	if c.wire {
		p.counts.wire--
	}
	if p.counts.cursors == pacedAbove {
		p.tell(maxShown) // nobody is paced any more
	}
}

// Last is the seq after which Next goes on.
func (c *Cursor) Last() protocol.Seq { return c.last }

// Resume places the cursor after the last event that a client has seen, when the
// epoch is the same and everything that followed is still in the ring. What Next
// gives then goes on where the client stopped, without gap or repetition.
func (c *Cursor) Resume(epoch protocol.Epoch, last protocol.Seq) bool {
	p := c.p
	p.mu.RLock()
	defer p.mu.RUnlock()
	if epoch != p.epoch || last < p.ring.passed || last < p.begun.ThroughSeq || last > p.live.ThroughSeq {
		return false
	}
	c.epoch, c.last = epoch, last
	return true
}

// Join places the cursor at the present moment and returns the state as of it, when
// the caller has read the log through sent and nothing after that has been
// published: what Next gives follows that state without gap or repetition. When
// something has been, the cursor stays where it was, and the caller reads on.
func (c *Cursor) Join(sent protocol.Seq) (protocol.Live, bool) {
	p := c.p
	p.mu.RLock()
	defer p.mu.RUnlock()
	if sent < p.live.PersistentLastSeq {
		return protocol.Live{}, false
	}
	c.epoch, c.last = p.epoch, p.live.ThroughSeq
	return p.live.Clone(), true
}

// CatchUp returns, without waiting, what [Cursor.Next] would give next, up to the
// present moment; when that is all there is, also the state as of it. What Next
// gives then follows that state without gap or repetition. The errors are Next's.
func (c *Cursor) CatchUp() ([]protocol.Event, *protocol.Live, error) {
	p := c.p
	p.mu.RLock()
	defer p.mu.RUnlock()
	switch {
	case c.epoch != p.epoch:
		events, _, err := c.look()
		c.took(events)
		return events, nil, err
	case c.last < p.ring.passed:
		return nil, nil, ErrGap
	}
	events := p.ring.batch(c.last, p.live.ThroughSeq)
	c.took(events)
	if c.last < p.live.ThroughSeq {
		return events, nil, nil
	}
	live := p.live.Clone()
	return events, &live, nil
}

// took moves the cursor after events that are given.
func (c *Cursor) took(events []protocol.Event) {
	if len(events) > 0 {
		c.last = events[len(events)-1].Seq
	}
}

// Restart places the cursor where the epoch began and returns the state as of then,
// as [Cursor.Join] does for the present. When yet another epoch has begun since
// [ErrEpoch] was given, and something was stored before that, the cursor stays where it
// was: the caller reads the log after [Cursor.Last] and joins.
func (c *Cursor) Restart() (protocol.Live, bool) {
	p := c.p
	p.mu.RLock()
	defer p.mu.RUnlock()
	if c.last < p.begun.PersistentLastSeq {
		return protocol.Live{}, false
	}
	c.epoch, c.last = p.epoch, p.begun.ThroughSeq
	return p.begun.Clone(), true
}

// Next waits for events after the last one and returns the next of them, at most
// [BatchEvents] and [BatchBytes]. Their list may be shared and must not be changed.
// A persistent event without a body stands, alone, for one that is large: the log
// has it, under its id. Next returns [ErrEpoch] when all events of an epoch that
// has ended were given, [ErrGap] when the caller has to read from the log and to
// join again, and [ErrClosed] when the publisher is closed and everything was given.
func (c *Cursor) Next(ctx context.Context) ([]protocol.Event, error) {
	for {
		events, moved, err := c.now()
		if c.took(events); len(events) > 0 || err != nil {
			return events, err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// now is look, by itself.
func (c *Cursor) now() ([]protocol.Event, <-chan struct{}, error) {
	c.p.mu.RLock()
	defer c.p.mu.RUnlock()
	return c.look()
}

// look returns what is there, or what is closed when there may be more. p.mu is held.
func (c *Cursor) look() ([]protocol.Event, <-chan struct{}, error) {
	p := c.p
	if c.last < p.ring.passed {
		return nil, nil, ErrGap
	}
	through, over := p.show.through, c.epoch != p.epoch
	if over { // no further than the old one goes
		through = p.begun.ThroughSeq
	}
	var events []protocol.Event
	if c.last < through {
		events = p.show.batch(&p.ring, c.last, through)
	}
	switch {
	case len(events) > 0:
		return events, nil, nil
	case over:
		return nil, nil, ErrEpoch
	case p.show.moved == nil:
		return nil, nil, ErrClosed
	}
	return nil, p.show.moved, nil
}
