package lane

import (
	"context"
	"time"

	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// errFault is what those are told who wait for something of a session that is given up.
func errFault() *protocol.Error {
	return protocol.Errorf(protocol.CodeInternalError, "A fault inside Scorel ended what this session was doing; it is open again as it was stored, and its diagnostics say where the fault is.")
}

// Panicked is told what a panic of a goroutine of the session was, by who has recovered
// it: nothing of the lane is trusted any more.
func (l *Lane) Panicked(recovered any) { l.life.fuse.Blow(fault.Caught(recovered)) }

// Fault returns the panic for which the lane is given up, nil while there was none.
func (l *Lane) Fault() *fault.Panic { return l.life.fuse.Panic() }

// Within returns a context that ends with ctx, and when the lane is given up: who waits for
// something of the session waits with it.
func (l *Lane) Within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.life.whole, func() { cancel(errFault()) })
	return ctx, func() { stop(); cancel(nil) }
}

// Abandon gives up a lane in which something panicked: what it runs is cancelled and not
// waited for, nothing that has not been stored is, clients are told, and the log is
// closed, which gives up the session's lock. No lock of the lane is taken: whoever
// panicked may hold any. It is called instead of [Lane.Close], or beside one that the
// panic has met.
func (l *Lane) Abandon() (err error) {
	l.life.fuse.Blow(&fault.Panic{Value: "the session was given up"}) // nobody comes in any more
	l.life.giveUp()
	l.life.end()
	if t := l.course.running.Load(); t != nil {
		t.cancel(errFault())
	}
	defer func() { // whatever else goes wrong
		l.leaveFiles()
		if cerr := l.cfg.Log.Close(); err == nil {
			err = cerr
		}
	}()
	l.j.Publisher().Break(errFault())
	l.cfg.Kept.leave() // the next lane makes a message of it
	return nil
}

// Left waits until what a lane that was given up has run is over, which was cancelled, but
// no longer than limit: who panicked may never end. It takes no lock of the lane.
func (l *Lane) Left(limit time.Duration) {
	over := make(chan struct{})
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	go func() { // ends with the last of them
		defer close(over)
		if t := l.course.running.Load(); t != nil {
			select {
			case <-t.Done:
			case <-ctx.Done():
			}
		}
		l.course.after.Wait()
		l.shells.Wait()
		l.tasks.Wait()
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// filesTime is how long a lane that is given up waits for what is written beside its log.
const filesTime = time.Second

// leaveFiles stops the writing of what is kept beside the log, so that the session's next
// owner finds it as it is. It waits for a moment only: whoever panicked may hold what it
// takes.
func (l *Lane) leaveFiles() {
	left := make(chan struct{})
	go func() { // ends when nobody holds the files, if ever
		defer close(left)
		defer l.life.fuse.Catch()
		l.cfg.Kept.leave()
		l.tasks.Leave()
	}()
	select {
	case <-left:
	case <-time.After(filesTime):
	}
}
