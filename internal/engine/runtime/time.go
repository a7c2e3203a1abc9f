package runtime

import (
	"context"
	"errors"
	"time"
)

// timeUp is the cause of the end of a turn's context whose time is over: that of the turn,
// or of one above it.
type timeUp struct{ outcome }

func (t *timeUp) Error() string { return t.err.Error() }

// minWatch is the shortest wait for the end of a turn's time, which stands still while a
// person is waited for.
const minWatch = 50 * time.Millisecond

// bound returns the context of a turn, which ends when its time is over: whatever the turn
// waits for then ends with it. The caller calls done at the end of the turn.
func (l *loop) bound(ctx context.Context) (turn context.Context, done func()) {
	left, limited := l.Budget.left()
	if !limited {
		return ctx, func() {}
	}
	turn, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() { // ends with the context
		defer close(ended)
		for {
			again := time.NewTimer(max(left, minWatch))
			select {
			case <-again.C:
			case <-turn.Done():
				again.Stop()
				return
			}
			if left, _ = l.Budget.left(); left > 0 {
				continue
			}
			if end, over := l.reached(); over {
				cancel(&timeUp{end})
			}
		}
	}()
	return turn, func() { cancel(nil); <-ended }
}

// timeIsUp reports whether the time of a turn is over, and how the run ends then.
func timeIsUp(turn context.Context) (outcome, bool) { return timeOf(context.Cause(turn)) }

// timeOf is [timeIsUp] for the cause of the end of a context.
func timeOf(cause error) (outcome, bool) {
	var up *timeUp
	if !errors.As(cause, &up) {
		return outcome{}, false
	}
	return up.outcome, true
}
