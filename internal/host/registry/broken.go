package registry

import (
	"context"
	"os"
	"time"

	"scorel/internal/host/failure"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// leftTime is how long a host that closes waits for what a session that was given up had
// begun.
const leftTime = 5 * time.Second

// Do handles what a request asks of an open session. It ends when the session is
// given up, and a panic gives that up: the request may have changed half of something.
func (r *Registry) Do(ctx context.Context, s *Session, do func(context.Context) (protocol.Response, error)) (data protocol.Response, err error) {
	ctx, cancel := s.lane.Within(ctx)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			caught := fault.Caught(p)
			s.lane.Panicked(caught)
			r.cfg.Guard.Check(caught)
			data, err = nil, failure.Inside()
		}
	}()
	data, err = do(ctx)
	if err != nil && s.lane.Fault() != nil {
		err = failure.Inside()
	}
	return data, err
}

// Broke gives up a session in which something panicked, so that it can be opened again as
// it is stored. It runs in a goroutine of its own, once for each time it is open.
func (r *Registry) Broke(s *Session, id protocol.SessionID, p *fault.Panic) {
	defer r.cfg.Guard.Rescue("giving up a session")
	<-s.ready
	// Told before it can be opened again: who does that finds why it was given up.
	r.cfg.Guard.Caught(id, "the session is given up and can be opened again as it is stored", p)
	if s.lane != nil { // else it could not even be opened
		r.abandon(s, id)
	}
}

func (r *Registry) abandon(s *Session, id protocol.SessionID) {
	if !r.giveUp(s) { // who closes it is met by the fault, and gives it up then
		_ = s.lane.Abandon()
		return
	}
	defer r.closing.Done()
	defer s.lane.Left(leftTime) // the session can be opened again by then, and Close waits
	defer r.gone(s)
	defer r.endBroken(id)
	if err := s.lane.Abandon(); err != nil {
		r.cfg.Log.Report(id, "give up: "+err.Error(), nil)
	}
}

// giveUp reports whether the caller is the one to close a session, for which closing
// counts it twice then: until it is gone, and until what it had begun has left.
func (r *Registry) giveUp(s *Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.gone != nil {
		return false
	}
	r.going(s)
	r.closing.Add(1)
	return true
}

// endBroken ends what the host keeps of a session that was given up.
func (r *Registry) endBroken(id protocol.SessionID) {
	defer r.cfg.Guard.Rescue("giving up a session")
	r.cfg.Owner.Forget(id)
}

// closeLane closes the lane of a session. One that meets a panic, or had one before, is
// given up.
func (r *Registry) closeLane(s *Session) (err error) {
	l := s.lane
	defer func() {
		if p := recover(); p != nil {
			l.Panicked(p)
			defer r.endBroken(l.ID())
			err = l.Abandon()
		}
	}()
	l.EndTurn()    // one that has told its end may not have left yet
	if !l.Busy() { // while what belongs to the session may still append, and when it knows how it ended
		l.Listeners().NotifyEnd()
		r.cfg.Owner.Quiet(l.ID())
	}
	return l.Close(func() {
		r.cfg.Owner.Quiet(l.ID())
		// The folder of running children goes while the session's lock is held. One
		// that is not empty stays: its children outlived the turn.
		_ = os.Remove(RunDir(r.cfg.StoreDir, l.ID()))
		r.cfg.Owner.Forget(l.ID())
		r.leaveQueue(s)
	})
}
