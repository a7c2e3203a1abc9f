package lane

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"

	"scorel/internal/engine/runtime"
	"scorel/protocol"
)

// maxBorders bounds the functions that wait for a step border; further ones are
// refused.
const maxBorders = 64

// border is a function that waits for a step border. Who runs it closes done.
type border struct {
	ctx  context.Context // the caller's
	f    func(context.Context) error
	done chan struct{}
	err  error
}

// AtBorder runs f while no model call and no tool runs, and returns its error. While
// a turn runs f waits for the next step border, and the next model call waits until f
// has ended. When none runs, f is a run of its own: clients see a runtime_start, can
// cancel it, and what they send meanwhile waits in the queue. While f runs nobody but
// f appends a conversation event: what it adds with its own context ([Lane.Add]) enters
// at once. Control events enter as ever.
//
// The context of f ends with ctx, with the turn, and with the lane. A message that f
// sends waits in the queue; a move or a compaction is refused, and so is AtBorder with
// the context of f. A tool must not call AtBorder: the border would wait for the tool.
func (l *Lane) AtBorder(ctx context.Context, f func(ctx context.Context) error) error {
	if ctx.Value(borderKey{}) != nil {
		return protocol.Errorf(protocol.CodeRuntimeBusy, "A command runs already that this one is part of.")
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.mu.Lock()
		if err := l.begins(); err != nil {
			l.mu.Unlock()
			return err
		}
		if wait := l.ending(); wait != nil {
			l.mu.Unlock()
			if err := await(ctx, wait); err != nil {
				return err
			}
			continue
		}
		if l.turn == nil {
			return l.runCommand(ctx, f) // unlocks mu
		}
		if len(l.borders) >= maxBorders {
			l.mu.Unlock()
			return protocol.Errorf(protocol.CodeRateLimited, "%d commands wait for the running step already; wait for its end.", maxBorders)
		}
		b := &border{ctx: ctx, f: f, done: make(chan struct{})}
		t := l.turn
		l.borders = append(l.borders, b)
		l.mu.Unlock()
		select {
		case <-b.done:
			return b.err
		case <-t.done:
		case <-ctx.Done():
		}
		if !l.unborder(b) { // it runs or has run
			<-b.done
			return b.err
		}
	}
}

// borderKey is the key of the turn at whose border a function runs, in its context.
type borderKey struct{}

// atBorder says whether a context is of a function that runs at a border of a turn.
func atBorder(ctx context.Context, t *turn) bool { return ctx.Value(borderKey{}) == t }

// unborder takes back a function that has not been begun, and says whether it could.
func (l *Lane) unborder(b *border) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.borders, b)
	if i < 0 {
		return false
	}
	l.borders = slices.Delete(l.borders, i, i+1)
	return true
}

// runCommand runs f as a run of its own and returns when that has ended. mu is held,
// and released.
func (l *Lane) runCommand(ctx context.Context, f func(context.Context) error) error {
	t := &turn{id: protocol.NewTurnID(l.cfg.Rand), epoch: l.epoch, setup: &Setup{Close: func() {}}, done: make(chan struct{}),
		before: l.leaf, modeSeq: l.modeSeq, command: true, between: true}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	var err error
	l.start(t, func(context.Context, runtime.Run) iter.Seq[runtime.RawEvent] {
		return func(yield func(runtime.RawEvent) bool) {
			if !yield(runtime.RawEvent{Body: &protocol.RuntimeStart{}}) {
				return
			}
			if err = l.pub.Flush(t.ctx); err == nil {
				err = l.safely(ctx, t, f)
			}
			end := &protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalCompleted}
			if t.ctx.Err() != nil {
				end = t.failed(t.ctx.Err())
			}
			yield(runtime.RawEvent{Body: end})
		}
	})
	l.mu.Unlock()
	<-t.done
	if err == nil && t.end != nil && t.end.Terminal == protocol.TerminalInternalError {
		err = t.end.Error
	}
	return err
}

// safely runs f with a context that ends with the caller's and with the turn's; a
// panic is an error and a report.
func (l *Lane) safely(ctx context.Context, t *turn, f func(context.Context) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })()
	defer func() {
		if r := recover(); r != nil {
			l.cfg.Report(fmt.Sprintf("a command panicked: %v", r), debug.Stack())
			err = protocol.Errorf(protocol.CodeInternalError, "The command failed inside: %v.", r)
		}
	}()
	return f(context.WithValue(ctx, borderKey{}, t))
}

// border runs what waits for the step border at which the turn is.
func (h *turnHost) border(ctx context.Context) error {
	err := h.lockAtBorder(ctx)
	if err == nil {
		h.l.mu.Unlock()
	}
	return err
}

// lockAtBorder runs what waits for a step border, and gives mu locked when nothing
// does any more.
func (h *turnHost) lockAtBorder(ctx context.Context) error {
	l := h.l
	for {
		l.mu.Lock()
		if len(l.borders) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil || l.stopping {
			return nil // who ends the turn leaves them to its end
		}
		b := l.borders[0]
		l.borders = slices.Delete(l.borders, 0, 1)
		if b.ctx.Err() != nil {
			l.mu.Unlock()
			b.err = b.ctx.Err()
			close(b.done)
			continue
		}
		if _, err := l.appendWaiting(ctx); err != nil {
			l.mu.Unlock()
			b.err = err
			close(b.done)
			return err
		}
		h.t.between = true
		l.mu.Unlock()
		if b.err = l.pub.Flush(ctx); b.err == nil { // f reads what is stored
			b.err = l.safely(b.ctx, h.t, b.f)
		}
		l.mu.Lock()
		h.t.between = false
		l.mu.Unlock()
		close(b.done)
	}
}

// appendWaiting appends what background commands have to tell and what waits to be
// added. It gives how many events that were. mu is held.
func (l *Lane) appendWaiting(ctx context.Context) (int, error) {
	n, err := l.appendNotices(ctx)
	if err != nil {
		return n, err
	}
	added, err := l.appendAdditions(ctx)
	l.told += n + added
	return n + added, err
}
