package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"scorel/protocol"
)

// A serving host keeps a session open for a while behind its last use, because the
// next request is likely to come soon.
const (
	lingerFor    = 60 * time.Second
	maxLingering = 64 // the oldest is closed first
)

// release gives a session back. When nobody has it any more and nothing runs in it,
// it is closed, see closeIdle; else the end of what runs does that.
func (h *Host) release(s *slot) {
	h.mu.Lock()
	s.refs--
	h.mu.Unlock()
	h.closeIdle(s)
}

// closeIdle closes a session that nobody has and in which nothing runs: an embedded
// host does so at once, a serving one when it has not been used for a while.
func (h *Host) closeIdle(s *slot) {
	h.mu.Lock()
	h.ended()
	if !h.idle(s) {
		h.mu.Unlock()
		return
	}
	if !h.cfg.Serving {
		h.going(s)
		h.mu.Unlock()
		h.closeSlot(s, "nobody has it open")
		return
	}
	h.unlinger(s)
	if s.linger == nil {
		s.linger = time.AfterFunc(lingerFor, func() {
			defer h.Rescue("closing an idle session")
			h.lingered(s)
		})
	} else {
		s.linger.Reset(lingerFor)
	}
	h.lingering = append(h.lingering, s)
	var oldest *slot
	if len(h.lingering) > maxLingering {
		oldest = h.lingering[0]
		h.going(oldest)
	}
	h.mu.Unlock()
	if oldest != nil {
		h.closeSlot(oldest, fmt.Sprintf("more than %d sessions are idle", maxLingering))
	}
}

// slotIdle is told that a turn or a background command of the session has ended.
func (h *Host) slotIdle(s *slot) {
	if s.opened() && int(s.toldTasks.Load()) != s.lane.RunningTasks() {
		h.sessionChanged(s)
	}
	h.titleAfterTurn(s)
	h.closeIdle(s)
}

// idle says whether nobody has a session and nothing runs in it. mu is held.
func (h *Host) idle(s *slot) bool {
	return s.refs == 0 && s.lane != nil && s.gone == nil && !h.closed && !s.lane.Busy()
}

// lingered closes a session that has been idle for long enough. Its timer calls it.
func (h *Host) lingered(s *slot) {
	h.mu.Lock()
	if !slices.Contains(h.lingering, s) || !h.idle(s) {
		h.mu.Unlock()
		return
	}
	h.going(s)
	h.mu.Unlock()
	id, meta := s.lane.ID(), s.lane.Meta()
	h.closeSlot(s, "it was idle")
	h.consolidateIdle(id, meta)
}

// unlinger takes a session off the list of those that are idle. mu is held.
func (h *Host) unlinger(s *slot) {
	if s.linger != nil {
		s.linger.Stop()
	}
	h.lingering = slices.DeleteFunc(h.lingering, func(other *slot) bool { return other == s })
}

// going notes that a session is being closed; closeSlot follows. mu is held.
func (h *Host) going(s *slot) {
	h.unlinger(s)
	s.gone = make(chan struct{})
	h.closing.Add(1)
}

// closeSlot closes a session for which going was called.
func (h *Host) closeSlot(s *slot, why string) {
	defer h.gone(s)
	id := s.lane.ID()
	if err := h.closeLane(s); err != nil {
		h.report(id, "close: "+err.Error(), nil)
	} else {
		h.report(id, "closed: "+why, nil)
	}
}

// gone ends what going began: the session may be opened again.
func (h *Host) gone(s *slot) {
	s.over.Do(func() {
		defer h.closing.Done()
		id := s.lane.ID()
		h.publishers.Delete(id)
		h.mu.Lock()
		if h.lanes[id] == s {
			delete(h.lanes, id)
		}
		h.ended()
		gone := s.gone
		h.mu.Unlock()
		close(gone)
	})
}

// closeLingering closes a session at once if it is idle.
func (h *Host) closeLingering(id protocol.SessionID, why string) {
	h.mu.Lock()
	s := h.lanes[id]
	if s == nil || !slices.Contains(h.lingering, s) || !h.idle(s) {
		h.mu.Unlock()
		return
	}
	h.going(s)
	h.mu.Unlock()
	h.closeSlot(s, why)
}

// ending is how long a turn that has told its end takes at most to leave its session.
const ending = 5 * time.Second

// free returns when this host does not have a session open: an idle one is closed, one
// that is in use is refused. do and done say what it has to be closed for.
func (h *Host) free(ctx context.Context, id protocol.SessionID, do, done string) error {
	for late := time.Now().Add(ending); ; {
		h.closeLingering(id, "it is being "+done)
		h.mu.Lock()
		s, gone, held := h.lanes[id], (chan struct{})(nil), false
		if s != nil {
			gone, held = s.gone, s.refs > 0
		}
		h.mu.Unlock()
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

// ended notes that something has ended, for EndIdle. mu is held.
func (h *Host) ended() { h.lastUse = h.cfg.Now() }

// EndIdle begins the end of a host that has had nothing to do for d, and says whether
// it did: no client is connected, no session is in use, and no turn, no background
// command and no message that waits for its turn is left. From then on nobody comes
// in, so that no request is taken which the host has no time for. [Host.Drain] or
// [Host.Close] follows.
func (h *Host) EndIdle(d time.Duration) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	since, idle := h.idleSince()
	if !idle || h.cfg.Now().Sub(since) < d {
		return false
	}
	h.closed = true
	return true
}

// idleSince says since when there has been nothing to do. mu is held.
func (h *Host) idleSince() (time.Time, bool) {
	if len(h.conns) > 0 {
		return time.Time{}, false
	}
	for _, s := range h.lanes {
		if s.gone != nil {
			continue
		}
		if !s.opened() || !h.idle(s) || s.lane.Publisher().Status().Waits {
			return time.Time{}, false
		}
	}
	return h.lastUse, true
}
