package host

import (
	"context"
	"fmt"
	"os"
	"time"

	"scorel/internal/host/publish"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// exitFault is the exit code of a host that a panic has ended (EX_SOFTWARE of
// sysexits(3)).
const exitFault = 70

// lastMoment is how long a host that ends so waits until what is stored has left.
const lastMoment = 2 * time.Second

// errInside is what a client is told whose request met a panic.
func errInside() *protocol.Error {
	return protocol.Errorf(protocol.CodeInternalError, "A fault inside Scorel ended this request; the host goes on, and its diagnostics say where the fault is.")
}

// caught is told of every panic that was recovered at the root of a goroutine or request:
// it is noted, and where it has left what all sessions share locked, the process ends.
func (h *Host) caught(id protocol.SessionID, what string, p *fault.Panic) {
	h.mu.Check(p)
	h.once.mu.Check(p)
	text := fmt.Sprintf("a fault inside Scorel, %s: %v", what, p.Value)
	if id != "" {
		h.report(id, text, p.Stack)
		return
	}
	if h.cfg.Report != nil {
		h.cfg.Report(text, p.Stack)
	}
}

// Rescue ends the panic of a goroutine of the host. It is deferred itself, at the root.
func (h *Host) Rescue(what string) {
	if r := recover(); r != nil {
		h.caught("", what, fault.Caught(r))
	}
}

// Caught is told what a panic of a goroutine was, by who has recovered it and has more to
// do than [Host.Rescue].
func (h *Host) Caught(what string, recovered any) { h.caught("", what, fault.Caught(recovered)) }

// inLane carries out what a request asks of an open session. It ends when the session is
// given up, and a panic gives that up: the request may have changed half of something.
func (h *Host) inLane(ctx context.Context, s *slot, do func(context.Context) (protocol.Response, error)) (data protocol.Response, err error) {
	ctx, cancel := s.lane.Within(ctx)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			p := fault.Caught(r)
			s.lane.Panicked(p)
			h.mu.Check(p)
			data, err = nil, errInside()
		}
	}()
	data, err = do(ctx)
	if err != nil && s.lane.Fault() != nil {
		err = errInside()
	}
	return data, err
}

// broke gives up a session in which something panicked, so that it can be opened again as
// it is stored. It runs in a goroutine of its own, once for each time it is open.
func (h *Host) broke(s *slot, id protocol.SessionID, p *fault.Panic) {
	defer h.Rescue("giving up a session")
	<-s.ready
	// Told before it can be opened again: who does that finds why it was given up.
	h.caught(id, "the session is given up and can be opened again as it is stored", p)
	if s.lane != nil { // else it could not even be opened
		h.abandon(s, id)
	}
}

func (h *Host) abandon(s *slot, id protocol.SessionID) {
	h.mu.Lock()
	mine := s.gone == nil
	if mine {
		h.going(s)
		h.closing.Add(1)
	}
	h.mu.Unlock()
	if !mine { // who closes it is met by the fault, and gives it up then
		_ = s.lane.Abandon()
		return
	}
	defer h.closing.Done()
	defer s.lane.Left(leftTime) // the session can be opened again by then, and Close waits
	defer h.gone(s)
	defer h.leaveBroken(id)
	if err := s.lane.Abandon(); err != nil {
		h.report(id, "give up: "+err.Error(), nil)
	}
}

// leftTime is how long a host that closes waits for what a session that was given up had
// begun.
const leftTime = 5 * time.Second

// leaveBroken ends what the host keeps of a session that was given up.
func (h *Host) leaveBroken(id protocol.SessionID) {
	defer h.Rescue("giving up a session")
	h.shorten(id)
	h.closeTemp(id)
}

// fatal ends the process, because a panic has left what all sessions share half changed:
// what is stored leaves before. It takes no lock of the host.
func (h *Host) fatal(p *fault.Panic) {
	text := fmt.Sprintf("a fault inside Scorel ended the host: %v; what was stored is whole, and sessions go on from there", p.Value)
	if h.cfg.Report != nil {
		h.cfg.Report(text, p.Stack)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastMoment)
	defer cancel()
	left := make(chan struct{})
	go func() { // ends with the process, if not before
		defer close(left)
		defer func() { _ = recover() }()
		h.publishers.Range(func(_, pub any) bool {
			_ = pub.(*publish.Publisher).Flush(ctx) // who is broken has nothing left
			return true
		})
	}()
	select {
	case <-left:
	case <-ctx.Done():
	}
	exit := h.cfg.Exit
	if exit == nil {
		fmt.Fprintf(os.Stderr, "scorel: %s\n%s", text, p.Stack)
		exit = os.Exit
	}
	exit(exitFault)
}
