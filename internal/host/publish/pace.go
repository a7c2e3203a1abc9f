package publish

import (
	"sync/atomic"
	"time"

	"scorel/protocol"
)

// The pace at which many cursors are told: the first event at once, then what has
// gathered.
const (
	pacedAbove = 100 // cursors; for fewer each event is told at once
	pace       = 15 * time.Millisecond
	maxShown   = BatchBytes // bytes that gather at most
)

// show is how much of the ring cursors may read. All that are waiting are woken
// together, and mostly read the same.
type show struct {
	through protocol.Seq
	moved   chan struct{} // closed and replaced when through has grown; nil: it will not any more
	last    time.Time     // when it grew
	bytes   int           // that have gathered since
	timer   *time.Timer   // lets them be read; nil until it is needed
	armed   bool

	// shared is what the last cursor was given: the others that stand where it stood
	// get the same.
	shared atomic.Pointer[shared]
}

type shared struct {
	after, through protocol.Seq
	events         []protocol.Event
}

// tell lets cursors read all that there is, or sees to it that they may soon; size
// is of what is new. mu is held.
func (p *Publisher) tell(size int) {
	s := &p.show
	if s.through == p.live.ThroughSeq || s.moved == nil {
		return
	}
	s.bytes += size
	if p.counts.cursors > pacedAbove {
		now := time.Now()
		if wait := pace - now.Sub(s.last); wait > 0 && s.bytes < maxShown {
			p.tellIn(wait)
			return
		}
		s.last = now
	}
	s.through, s.bytes = p.live.ThroughSeq, 0
	close(s.moved)
	s.moved = make(chan struct{})
}

// tellIn tells when some time has passed. mu is held.
func (p *Publisher) tellIn(wait time.Duration) {
	s := &p.show
	switch {
	case s.armed:
		return
	case s.timer == nil:
		s.timer = time.AfterFunc(wait, p.timed(func() { // Close stops it
			p.mu.Lock()
			defer p.mu.Unlock()
			p.show.armed = false
			p.tell(maxShown)
		}))
	default:
		s.timer.Reset(wait)
	}
	s.armed = true
}

// batch returns the next events, from the last time when that was the same question.
func (s *show) batch(r *ring, after, through protocol.Seq) []protocol.Event {
	if l := s.shared.Load(); l != nil && l.after == after && l.through == through {
		return l.events
	}
	events := r.batch(after, through)
	if len(events) > 0 {
		s.shared.Store(&shared{after, through, events})
	}
	return events
}
