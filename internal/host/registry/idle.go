package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"scorel/protocol"
)

// A serving host keeps a session open for a while after its last use, because the
// next request is likely to come soon.
const (
	idleFor = 60 * time.Second
	maxIdle = 64 // the oldest is closed first
)

// Release gives a session back. When nobody has it any more and nothing runs in it,
// it is closed, see [Registry.CloseIdle]; else the end of what runs does that.
func (r *Registry) Release(s *Session) {
	r.mu.Lock()
	s.refs--
	r.mu.Unlock()
	r.CloseIdle(s)
}

// CloseIdle closes a session that nobody has and in which nothing runs: an embedded
// host does so at once, a serving one when it has not been used for a while. It is
// called when something in the session has ended.
func (r *Registry) CloseIdle(s *Session) {
	if over, why := r.idleNow(s); over != nil {
		r.close(over, why)
	}
}

// idleNow notes that a session may be idle, and returns the one that has to be closed for
// it, if any, with the reason: close follows.
func (r *Registry) idleNow(s *Session) (over *Session, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used()
	if !r.unused(s) {
		return nil, ""
	}
	if !r.cfg.Serving {
		r.going(s)
		return s, "nobody has it open"
	}
	r.inUse(s)
	if s.rest == nil {
		s.rest = time.AfterFunc(idleFor, func() {
			defer r.cfg.Guard.Rescue("closing an idle session")
			r.rested(s)
		})
	} else {
		s.rest.Reset(idleFor)
	}
	r.idle = append(r.idle, s)
	if len(r.idle) <= maxIdle {
		return nil, ""
	}
	oldest := r.idle[0]
	r.going(oldest)
	return oldest, fmt.Sprintf("more than %d sessions are idle", maxIdle)
}

// unused reports whether nobody has a session and nothing runs in it, and, of a serving host,
// no channel may push into it. mu is held.
func (r *Registry) unused(s *Session) bool {
	return s.refs == 0 && s.lane != nil && s.gone == nil && !r.closed && !s.lane.Busy() && !(r.cfg.Serving && s.lane.Listening())
}

// inUse takes a session off the list of those that are idle. mu is held.
func (r *Registry) inUse(s *Session) {
	if s.rest != nil {
		s.rest.Stop()
	}
	r.idle = slices.DeleteFunc(r.idle, func(other *Session) bool { return other == s })
}

// rested closes a session that has been idle for long enough. Its timer calls it.
func (r *Registry) rested(s *Session) {
	if !r.takeIdle(s) {
		return
	}
	id, meta := s.lane.ID(), s.lane.Meta()
	r.close(s, "it was idle")
	r.cfg.Rested(id, meta)
}

// takeIdle reports whether a session is idle; then close follows.
func (r *Registry) takeIdle(s *Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.idle, s) || !r.unused(s) {
		return false
	}
	r.going(s)
	return true
}

// going notes that a session is being closed; close follows. mu is held.
func (r *Registry) going(s *Session) {
	r.inUse(s)
	s.gone = make(chan struct{})
	r.closing.Add(1)
}

// close closes a session for which going was called.
func (r *Registry) close(s *Session, why string) {
	defer r.gone(s)
	id := s.lane.ID()
	if err := r.closeLane(s); err != nil {
		r.cfg.Log.Report(id, "close: "+err.Error(), nil)
	} else {
		r.cfg.Log.Report(id, "closed: "+why, nil)
	}
}

// gone ends what going began: the session may be opened again.
func (r *Registry) gone(s *Session) {
	s.over.Do(func() {
		defer r.closing.Done()
		r.publishers.Delete(s.lane.ID())
		close(r.remove(s))
	})
}

// remove takes a session off the list and returns what is to be closed then.
func (r *Registry) remove(s *Session) (gone chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id := s.lane.ID(); r.sessions[id] == s {
		delete(r.sessions, id)
	}
	r.used()
	return s.gone
}

// ending is how long a turn that has told its end takes at most to leave its session.
const ending = 5 * time.Second

// Free returns when this host does not have a session open: an idle one is closed, one
// that is in use is refused. do and done say what it has to be closed for.
func (r *Registry) Free(ctx context.Context, id protocol.SessionID, do, done string) error {
	for late := time.Now().Add(ending); ; {
		s, gone, held := r.holder(id)
		if s != nil && gone == nil && r.takeIdle(s) {
			r.close(s, "it is being "+done)
			s, gone, held = r.holder(id)
		}
		switch {
		case s == nil:
			return nil
		case gone == nil && !held && s.tasks() == 0 && !s.lane.Working() && time.Now().Before(late):
			// What ran there has told its end and is about to leave.
			select {
			case <-time.After(time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
			continue
		case gone == nil && s.tasks() > 0:
			return protocol.Errorf(protocol.CodeSessionLocked, "Background commands run in the session %s (%d); stop them before you %s it.", id, s.tasks(), do)
		case gone == nil:
			return protocol.About("sessionId", protocol.ReasonOpen, protocol.CodeSessionLocked, "The session %s is open in a client; leave it there before you %s it.", id, do)
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// holder returns the session of an id, nil when this host does not have it, what is
// closed when it is gone, nil when it is not being closed, and whether somebody has it.
func (r *Registry) holder(id protocol.SessionID) (s *Session, gone <-chan struct{}, held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s = r.sessions[id]; s == nil {
		return nil, nil, false
	}
	return s, s.gone, s.refs > 0
}
