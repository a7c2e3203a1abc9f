package lane

import (
	"context"
	"sync"
	"sync/atomic"

	"scorel/internal/engine/runtime"
	"scorel/internal/host/lane/journal"
	"scorel/internal/host/lane/question"
	"scorel/protocol"
)

// course is what runs in a session, and what waits for it. The journal's lock guards what
// is not said otherwise.
type course struct {
	running    atomic.Pointer[turn] // the same as turn, for who waits for nobody; set with the journal locked
	turn       *turn
	boundaries []*boundary    // that wait for a step boundary of the turn
	added      int            // events that background commands and others than the run have added
	stopping   bool           // no turn begins any more
	after      sync.WaitGroup // what a turn still does after its end
	waking     waking         // by background work
	proactive  proactive
	coming     atomic.Int32    // messages of people that are being sent; needs no lock
	unpriced   map[string]bool // models of which people were told that their price is not known; at most maxUnpriced
	looked     bool            // for what was left in repositories; belongs to the goroutine of the turn
}

// courseOf is what the parts of a lane know of its course. It implements [question.Run] and
// [shell.Owner].
type courseOf struct{ l *Lane }

// Asking implements [question.Run].
func (c courseOf) Asking() question.Asking {
	l := c.l
	a := question.Asking{Unattended: l.cfg.Unattended, Stopping: l.course.stopping, Closed: l.j.Closed()}
	if t := l.course.turn; t != nil {
		a.Unattended = a.Unattended || t.options != nil && t.options.Unattended || t.outside
		a.Above, a.Wait = t.config.Above.asking(), t.wait
	}
	return a
}

// StopRun implements [question.Run].
func (c courseOf) StopRun() {
	if t := c.l.course.turn; t != nil {
		t.cancel(errHostStops)
	}
}

// MayBegin implements [shell.Owner].
func (c courseOf) MayBegin() error { return c.l.mayBegin() }

// Idle implements [shell.Owner].
func (c courseOf) Idle() { c.l.cfg.Owner.Idle() }

// mayBegin returns why no turn may begin, nil when one may. The journal is locked.
func (l *Lane) mayBegin() error {
	if l.course.stopping {
		return errStopping()
	}
	return l.j.Writable()
}

// clear calls then, with the journal locked, when no turn runs. The turn that the caller
// names is cancelled first, and then is given it; what was sent in the meantime comes after
// then.
func (l *Lane) clear(ctx context.Context, cancel protocol.TurnID, then func(cancelled *turn) error) error {
	var cancelled *turn
	var release func(func() error) error
	err := l.j.When(ctx, func() (<-chan struct{}, error) {
		switch t := l.course.turn; {
		case l.j.Held() != nil: // somebody else's comes first
			return l.j.Held(), nil
		case t == nil:
		case t.Over.Load() || l.j.Lost():
			return t.Done, nil
		case t.ID != cancel:
			return nil, protocol.Errorf(protocol.CodeRuntimeBusy, "A turn is running; cancel it first.")
		default:
			cancelled = t
		}
		return nil, nil
	}, func() error {
		if cancelled == nil {
			return then(nil)
		}
		release = l.j.Hold()
		cancelled.cancel(journal.ErrCancelled)
		return nil
	})
	if err != nil || cancelled == nil {
		return err
	}
	err = journal.Await(ctx, cancelled.Done)
	if err == nil { // what a client may have seen of the turn is asked of the stored path
		err = l.j.Publisher().Flush(ctx)
	}
	return release(func() error {
		if err != nil {
			return err
		}
		return then(cancelled)
	})
}

// errStopping refuses a turn while the host comes to its end.
func errStopping() error {
	return protocol.Errorf(protocol.CodeRuntimeBusy, "The host is stopping; send again when it is back.")
}

// errHostStops cancels a turn because its host ends.
var errHostStops = runtime.ErrHostStops

// Drain lets no further turn begin, and has the running one end at its next step
// boundary: the message and the results of its step are complete by then, and what
// waits in the queues stays there. A turn that waits for a person, or to try its
// model again, is ended at once. The channel is closed when no turn runs; what a
// client queues until then is kept.
func (l *Lane) Drain() <-chan struct{} {
	l.j.Lock()
	defer l.j.Unlock()
	l.course.stopping = true
	t := l.course.turn
	if t == nil {
		done := make(chan struct{})
		close(done)
		return done
	}
	l.stir()
	if l.questions.Awaited() || t.waits {
		t.cancel(errHostStops)
	}
	return t.Done
}

// Stop ends the running turn where it is, because its host ends. It does not wait.
func (l *Lane) Stop() {
	if t := l.course.running.Load(); t != nil {
		t.cancel(errHostStops)
	}
}

// EndTurn ends the running turn because its host ends, lets no other one begin, and
// returns when it has left the session: what belongs to the session may still append.
func (l *Lane) EndTurn() {
	l.j.Lock()
	l.course.stopping = true
	t := l.course.turn
	if t != nil {
		t.cancel(errHostStops)
	}
	l.j.Unlock()
	if t != nil {
		<-t.Done
	}
	l.course.after.Wait()
}

// Cancel ends the named turn; for another, or none, it does nothing. It does not
// wait for the journal, which is locked while events wait for a slow disk.
func (l *Lane) Cancel(id protocol.TurnID) bool {
	t := l.course.running.Load()
	if t == nil || t.ID != id || t.Over.Load() {
		return false
	}
	t.cancel(journal.ErrCancelled)
	return true
}

// Working reports whether a turn runs that has not come to its end, also before clients
// are told of it. It waits for nobody.
func (l *Lane) Working() bool {
	t := l.course.running.Load()
	return t != nil && t.takes()
}

// Conversing is Working of a turn in which a model is asked, and not of a command that
// runs by itself.
func (l *Lane) Conversing() bool {
	t := l.course.running.Load()
	return t != nil && !t.command && !t.foreign && t.takes()
}

// Busy reports whether a turn, a command of a person or one in the background runs. It
// waits for nobody.
func (l *Lane) Busy() bool {
	return l.course.running.Load() != nil || l.shells.Busy() || l.tasks.Running() > 0
}
