package registry

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/protocol"
)

// MaxDepth is how many sub-agents may stand below each other.
const MaxDepth = 3

// Has reports whether a session is open, or being opened or closed.
func (r *Registry) Has(id protocol.SessionID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[id] != nil
}

// Len returns how many sessions are open, being opened or being closed.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// find returns the session of an id, nil when it is not open. It waits for nobody.
func (r *Registry) find(id protocol.SessionID) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sessions[id]; s != nil && s.Opened() {
		return s
	}
	return nil
}

// Lane returns the lane of a session that is open, nil for another. It waits for nobody.
func (r *Registry) Lane(id protocol.SessionID) *lane.Lane {
	if s := r.find(id); s != nil {
		return s.lane
	}
	return nil
}

// Lanes returns the lanes of the sessions that are open and not being closed.
func (r *Registry) Lanes() (lanes []*lane.Lane) {
	for _, s := range r.list(func(s *Session) bool { return s.gone == nil && s.Opened() }) {
		lanes = append(lanes, s.lane)
	}
	return lanes
}

// Mode returns the permission mode that people have set in a session, "" for none.
func (r *Registry) Mode(id protocol.SessionID) string {
	if l := r.Lane(id); l != nil {
		return string(l.Mode())
	}
	return ""
}

// Notify shows the people of a session a sentence of the host's, and, of a sub-agent's,
// those of the sessions above it: most watch only these.
func (r *Registry) Notify(id protocol.SessionID, level, text string) {
	for range MaxDepth + 1 {
		l := r.Lane(id)
		if l == nil {
			return
		}
		l.Notices().Notify("", level, text)
		p := l.Log().Index().Header().Parent
		if p == nil {
			return
		}
		id, text = p.SessionID, "the agent "+p.Agent+": "+text
	}
}

// Ask puts a dialog to the people of a session, at most for timeout (0: no limit), and is
// false where nobody answers it, or the session is not open.
func (r *Registry) Ask(ctx context.Context, id protocol.SessionID, d protocol.Dialog, timeout time.Duration) (json.RawMessage, bool) {
	l := r.Lane(id)
	if l == nil {
		return nil, false
	}
	return l.Questions().Dialog(ctx, d, timeout)
}

// State returns what goes on in a session, nil when this host does not have it open.
func (r *Registry) State(id protocol.SessionID) *protocol.SessionState {
	if s := r.find(id); s != nil {
		return s.State()
	}
	return nil
}

// States returns what goes on in the sessions that are open, in no order.
func (r *Registry) States() (states []protocol.SessionState) {
	for _, s := range r.list(func(*Session) bool { return true }) {
		if st := s.State(); st != nil {
			states = append(states, *st)
		}
	}
	return states
}

// Account adds what a model has used to the sum of a session, when the session is open:
// it is never opened for that.
func (r *Registry) Account(id protocol.SessionID, model string, usage protocol.Usage) {
	s := r.find(id)
	if s == nil || !r.Share(s) {
		return
	}
	defer r.Release(s)
	if err := s.lane.Account(r.life, model, usage); err != nil {
		r.cfg.Log.Report(id, "record what "+model+" has used: "+err.Error(), nil)
	}
}

// View returns a session for reading: the open one, or a view that holds no lock, also of an
// open one that another program has cut. done ends that.
func (r *Registry) View(ctx context.Context, id protocol.SessionID) (index *session.Index, report health.Report, done func(), err error) {
	if err := id.Check(); err != nil {
		return nil, health.Report{}, nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	var lost []health.Finding
	if r.Has(id) {
		s, err := r.Acquire(ctx, id)
		if err != nil {
			return nil, health.Report{}, nil, err
		}
		left, cut := s.lane.Log().Cut()
		if !cut {
			return s.lane.Log().Index(), s.report, func() { r.Release(s) }, nil
		}
		r.Release(s)
		lost = []health.Finding{{Kind: health.CutWhileOpen, Offset: left}}
	}
	stamp, err := r.cfg.Store.Stamp(id) // before it is read: what comes meanwhile is another state
	if err != nil {
		return nil, health.Report{}, nil, err
	}
	v := r.views.take(id, stamp)
	if v == nil {
		read, report, err := r.cfg.Store.View(ctx, id)
		if err != nil {
			return nil, report, nil, err
		}
		v = &sharedView{View: read, report: report, stamp: stamp}
		r.views.keep(v)
	}
	report = v.report
	report.Findings = slices.Concat(lost, report.Findings)
	return v.Index(), report, func() { r.views.release(v) }, nil
}
