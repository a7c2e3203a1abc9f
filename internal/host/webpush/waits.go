package webpush

import (
	"time"

	"scorel/protocol"
)

// maxKnown bounds the sessions of which is known whether they wait; with more, those that do
// not are forgotten.
const maxKnown = 4096

// waiting is a session of which is known whether it waits for a person.
type waiting struct {
	waits  bool
	asking bool      // a question is open; else a job waits
	ready  time.Time // when somebody may be woken for it
}

// target is a client that is pushed to.
type target struct {
	subscription
	told     map[protocol.SessionID]bool // that it has been told of, or its person has seen; each waits
	next     time.Time                   // nothing is sent before
	failures int                         // in a row
	sending  bool
}

// Wants reports whether anybody is pushed to: without one, sessions need not be told.
func (p *Pushes) Wants() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.targets) > 0
}

// SessionChanged is told what a session is like now. It waits for nobody.
func (p *Pushes) SessionChanged(sum protocol.SessionSummary) {
	if sum.Parent != nil { // what a sub-agent asks is asked in the session that it works for, too
		return
	}
	asking := sum.State != nil && sum.State.Asking
	settle := p.cfg.Pace.Settle
	if sum.State != nil && sum.State.Clients > 0 { // who looks at it may be about to answer
		settle = p.cfg.Pace.Watched
	}
	if p.note(sum.SessionID, asking, sum.JobState() == protocol.JobWaiting, sum.Meta.Job != nil, settle) {
		p.look()
	}
}

// SessionDeleted is told that a session has gone. It waits for nobody.
func (p *Pushes) SessionDeleted(id protocol.SessionID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over(id)
	delete(p.waits, id)
}

// note keeps whether a session waits, and reports whether it has begun to.
func (p *Pushes) note(id protocol.SessionID, asking, jobWaits, job bool, settle time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waits[id]
	switch {
	case asking || jobWaits && w != nil:
	case jobWaits: // it waited before this host knew of it, and its person was told then
		p.known(id, &waiting{waits: true})
		for _, t := range p.targets {
			t.told[id] = true
		}
		return false
	default:
		p.over(id)
		delete(p.waits, id)
		if job { // when it waits, that is new
			p.known(id, &waiting{})
		}
		return false
	}
	if w != nil && w.waits {
		w.asking = asking
		return false
	}
	p.known(id, &waiting{waits: true, asking: asking, ready: p.cfg.Now().Add(settle)})
	return true
}

// known keeps what is known of a session. mu is held.
func (p *Pushes) known(id protocol.SessionID, w *waiting) {
	if len(p.waits) >= maxKnown {
		for other, o := range p.waits {
			if !o.waits {
				delete(p.waits, other)
			}
		}
	}
	p.waits[id] = w
}

// over notes that a session waits no longer. mu is held.
func (p *Pushes) over(id protocol.SessionID) {
	for _, t := range p.targets {
		delete(t.told, id)
	}
}

// noteShown notes that the person at a client has seen that sessions wait.
func (p *Pushes) noteShown(id protocol.ClientID, sessions []protocol.SessionID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.targets[id]
	if t == nil {
		return
	}
	for _, s := range sessions {
		if w := p.waits[s]; w != nil && w.waits {
			t.told[s] = true
		}
	}
}

// order is a push that is to be sent now.
type order struct {
	sub      subscription
	sessions []protocol.SessionID // that wait and are not told
	failures int
}

// due returns the pushes that are to be sent now, which count as told from now on, and when to
// look again; the zero time is when something changes.
func (p *Pushes) due(now time.Time) (orders []order, again time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	later := func(t time.Time) {
		if again.IsZero() || t.Before(again) {
			again = t
		}
	}
	for _, t := range p.targets {
		if t.sending || t.Endpoint == "" {
			continue
		}
		var fresh []protocol.SessionID
		ready := false
		for id, w := range p.waits {
			if !w.waits || t.told[id] {
				continue
			}
			fresh = append(fresh, id)
			at := w.ready
			if at.Before(t.next) {
				at = t.next
			}
			if at.After(now) {
				later(at)
			} else {
				ready = true
			}
		}
		if !ready || p.sending >= maxSending { // the end of one looks again
			continue
		}
		for _, id := range fresh {
			t.told[id] = true
		}
		t.sending = true
		p.sending++
		orders = append(orders, order{t.subscription, fresh, t.failures})
	}
	return orders, again
}
