package registry

import (
	"context"
	"fmt"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/host/failure"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// opener opens the log of a session.
type opener func() (*session.Log, health.Report, error)

// Acquire opens a session, or shares the open one; [Registry.Release] gives it back.
func (r *Registry) Acquire(ctx context.Context, id protocol.SessionID) (*Session, error) {
	if err := id.Check(); err != nil {
		return nil, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	s, isNew, err := r.share(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case isNew:
		// The others that wait for it are not to fail because this caller goes.
		ctx = context.WithoutCancel(ctx)
		r.fill(ctx, id, s, func() (*session.Log, health.Report, error) { return r.cfg.Store.Open(ctx, id) })
	}
	<-s.ready
	return s, s.err
}

// Create makes a session and opens it; [Registry.Release] gives it back.
func (r *Registry) Create(ctx context.Context, header protocol.Header) (*Session, error) {
	s, err := r.reserve(header.SessionID)
	if err != nil {
		return nil, err
	}
	r.fill(ctx, header.SessionID, s, func() (*session.Log, health.Report, error) {
		log, err := r.cfg.Store.Create(ctx, header)
		return log, health.Report{}, err
	})
	return s, s.err
}

// reserve makes the place of a session that nobody may have open.
func (r *Registry) reserve(id protocol.SessionID) (*Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosing()
	}
	if r.sessions[id] != nil {
		return nil, protocol.Errorf(protocol.CodeConflict, "A session of that id exists already.")
	}
	s := r.newSession()
	r.sessions[id] = s
	return s, nil
}

// share returns the open session, or one that is being opened. isNew reports that there
// was none, and that the caller has to fill it. It waits for one that is being closed.
func (r *Registry) share(ctx context.Context, id protocol.SessionID) (s *Session, isNew bool, err error) {
	for {
		s, isNew, gone, err := r.lookUp(id)
		if gone == nil {
			return s, isNew, err
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// lookUp is share without waiting: gone, when it is not nil, is closed when the session
// has been closed.
func (r *Registry) lookUp(id protocol.SessionID) (s *Session, isNew bool, gone <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s = r.sessions[id]
	switch {
	case r.closed:
		return nil, false, nil, errClosing()
	case s == nil:
		s = r.newSession()
		r.sessions[id] = s
		return s, true, nil, nil
	case s.gone != nil:
		return nil, false, s.gone, nil
	}
	s.refs++
	r.inUse(s)
	return s, false, nil, nil
}

// Share counts another user of an open session, whom [Registry.Release] ends, and reports
// whether it did: not when the session is being closed or the host ends.
func (r *Registry) Share(s *Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || s.gone != nil || !s.Opened() {
		return false
	}
	s.refs++
	r.inUse(s)
	return true
}

// fill completes a session with the log that open opens.
func (r *Registry) fill(ctx context.Context, id protocol.SessionID, s *Session, open opener) {
	defer close(s.ready)
	if err := r.open(ctx, id, s, open); err != nil {
		s.lane, s.err = nil, failure.Of(err)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.sessions, id)
	}
}

// open opens the log of a session and makes its lane. A panic is an error, and what was
// opened is closed.
func (r *Registry) open(ctx context.Context, id protocol.SessionID, s *Session, open opener) (err error) {
	var log *session.Log
	defer func() {
		if p := recover(); p != nil {
			err = failure.Inside()
			defer r.cfg.Guard.Caught(id, "opening a session", fault.Caught(p))
		}
		if err != nil && log != nil {
			_ = log.Close()
		}
	}()
	if log, s.report, err = open(); err != nil {
		return err
	}
	return r.run(ctx, s, log)
}

// run makes the lane of a session whose log is open.
func (r *Registry) run(ctx context.Context, s *Session, log *session.Log) error {
	id := log.ID()
	if err := r.reap(id); err != nil {
		return err
	}
	s.pending = r.pendingOf(id)
	l, err := r.cfg.Owner.Lane(ctx, s, log)
	if err != nil {
		return err
	}
	r.publishers.Store(id, l.Publisher())
	waiting, _ := l.Waiting()
	if err := s.pending.found(waiting); err != nil { // the log is what counts
		r.cfg.Log.Report(id, "the mark of the queue: "+err.Error(), nil)
	}
	if r.isStopping() {
		l.Drain()
	}
	r.reapAgents(ctx, l.Agents().Interrupted())
	r.cfg.Log.Report(id, fmt.Sprintf("opened: %d events, %d bytes", log.Index().Len(), log.Index().Size()), nil)
	s.lane = l
	return nil
}

func (r *Registry) isStopping() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopping
}
