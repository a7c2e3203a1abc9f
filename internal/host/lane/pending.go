package lane

import (
	"context"
	"sync"

	"scorel/protocol"
)

// Pending keeps the mark of a session in which messages wait; a host that starts
// opens the sessions that have one. Calls do not overlap.
type Pending interface {
	// Keep makes the mark, which is durable on return. Where there is one it costs
	// nothing.
	Keep() error
	// Drop takes the mark away.
	Drop() error
}

// mark guards the session's [Pending]. The mark is durable before a message that
// waits can be, and goes when none waits in what is stored: at a kill it may stand
// there without a queue, never the other way round.
type mark struct {
	mu    sync.Mutex // held over the file; never taken with Lane.mu held
	kept  bool       // it may be there
	users int        // requests that are about to queue something
}

// keepMark makes the mark for a request that may queue something, or let a queue
// go on. release is called when what it did is durable, or has failed.
func (l *Lane) keepMark() (release func(), err error) {
	if l.cfg.Pending == nil {
		return func() {}, nil
	}
	l.mark.mu.Lock()
	defer l.mark.mu.Unlock()
	l.mark.kept = true
	if err := l.cfg.Pending.Keep(); err != nil {
		return nil, protocol.Errorf(protocol.CodeStorageError, "The message cannot be queued, because a file cannot be written: %v.", err)
	}
	l.mark.users++
	return func() {
		l.mark.mu.Lock()
		l.mark.users--
		l.mark.mu.Unlock()
		l.settleMark()
	}, nil
}

// settleMark takes the mark away when nothing waits in what is stored.
func (l *Lane) settleMark() {
	l.mu.Lock()
	waiting := l.queues.count()
	l.mu.Unlock()
	if waiting > 0 {
		return
	}
	l.mark.mu.Lock()
	defer l.mark.mu.Unlock()
	if !l.mark.kept || l.mark.users > 0 {
		return
	}
	for _, q := range l.pub.Live().Queues {
		if len(q.Items) > 0 {
			return // taken, and not yet durably so
		}
	}
	l.mark.kept = false
	if err := l.cfg.Pending.Drop(); err != nil {
		l.cfg.Report("remove the mark of a queue: "+err.Error(), nil)
	}
}

// count says how many messages wait.
func (q *queues) count() int { return len(q.steer.items) + len(q.followUp.items) }

// Waiting counts the messages that wait, and says whether one of them would begin a
// turn, because its queue is not paused.
func (l *Lane) Waiting() (n int, ready bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queues.count(), l.queues.waiting()
}

// GoOn begins a turn with the first message that waits in a queue that is not
// paused, when no turn runs. It returns when that is durable.
func (l *Lane) GoOn(ctx context.Context) error { return l.goOn(ctx, nil) }

// Pause stops the queues in which messages wait, until somebody resumes them or
// sends. It returns when that is durable.
func (l *Lane) Pause(ctx context.Context) error {
	l.mu.Lock()
	if err := l.writable(); err != nil {
		l.mu.Unlock()
		return err
	}
	ticket, err := l.pause()
	l.mu.Unlock()
	return waitFor(ctx, ticket, err)
}
