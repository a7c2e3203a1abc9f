package lane

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"

	"scorel/internal/engine/runtime"
	"scorel/internal/host/lane/journal"
	"scorel/protocol"
)

// maxBoundaries bounds the functions that wait for a step boundary; further ones are
// refused.
const maxBoundaries = 64

// boundary is a function that waits for a step boundary. Who runs it closes done.
type boundary struct {
	ctx  context.Context // the caller's
	f    func(context.Context) error
	done chan struct{}
	err  error
}

// end says that the function has run, or does not.
func (b *boundary) end(err error) {
	b.err = err
	close(b.done)
}

// AtBoundary runs f while no model call and no tool runs, and returns its error. While
// a turn runs f waits for the next step boundary, and the next model call waits until f
// has ended. When none runs, f is a run of its own: clients see a runtime_start, can
// cancel it, and what they send meanwhile waits in the queue. While f runs nobody but
// f appends a conversation event: what it adds with its own context ([addition.List.Add])
// enters at once. Control events enter as ever.
//
// The context of f ends with ctx, with the turn, and with the lane. A message that f
// sends waits in the queue; a compaction is refused, a move too unless f is a run of its own
// ([Lane.Navigate]), and so is AtBoundary with the context of f. A tool must not call AtBoundary: the boundary would wait for the tool.
func (l *Lane) AtBoundary(ctx context.Context, f func(ctx context.Context) error) error {
	return l.RunCommand(ctx, "", f)
}

// RunCommand is [Lane.AtBoundary] for a slash command, by whose name clients see a run of its own.
func (l *Lane) RunCommand(ctx context.Context, name string, f func(ctx context.Context) error) error {
	if journal.InRun(ctx) {
		return protocol.Errorf(protocol.CodeRuntimeBusy, "A command runs already that this one is part of.")
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, b, err := l.queueBoundary(ctx, name, f)
		switch {
		case err != nil:
			return err
		case c != nil:
			<-c.turn.Done
			return c.result()
		}
		select {
		case <-b.done:
			return b.err
		case <-b.turn.Done:
		case <-ctx.Done():
		}
		if !l.dropBoundary(b.boundary) { // it runs or has run
			<-b.done
			return b.err
		}
	}
}

// waitingBoundary is a function that waits for a boundary of a turn.
type waitingBoundary struct {
	*boundary
	turn *turn
}

// queueBoundary has f wait for the next boundary of the running turn, or begins a run with it
// when there is none.
func (l *Lane) queueBoundary(ctx context.Context, name string, f func(context.Context) error) (c *commandRun, b *waitingBoundary, err error) {
	err = l.j.When(ctx, func() (<-chan struct{}, error) {
		if err := l.mayBegin(); err != nil {
			return nil, err
		}
		return l.j.Ending(), nil
	}, func() error {
		t := l.course.turn
		if t == nil {
			c = l.startCommand(ctx, name, f)
			return nil
		}
		if len(l.course.boundaries) >= maxBoundaries {
			return protocol.Errorf(protocol.CodeRateLimited, "%d commands wait for the running step already; wait for its end.", maxBoundaries)
		}
		b = &waitingBoundary{&boundary{ctx: ctx, f: f, done: make(chan struct{})}, t}
		l.course.boundaries = append(l.course.boundaries, b.boundary)
		l.stir()
		return nil
	})
	return c, b, err
}

// dropBoundary takes back a function that has not been begun, and reports whether it could.
func (l *Lane) dropBoundary(b *boundary) bool {
	l.j.Lock()
	defer l.j.Unlock()
	i := slices.Index(l.course.boundaries, b)
	if i < 0 {
		return false
	}
	l.course.boundaries = slices.Delete(l.course.boundaries, i, i+1)
	return true
}

// commandRun is a function that is a run of its own.
type commandRun struct {
	turn *turn
	err  error // of the function; for everybody when the turn is done
}

// result is what the function has returned, or why it has not. The turn is done.
func (c *commandRun) result() error {
	if end := c.turn.end; c.err == nil && end != nil && end.Terminal == protocol.TerminalInternalError {
		return end.Error
	}
	return c.err
}

// startCommand starts f as a run of its own, of a command with that name. The journal is locked.
func (l *Lane) startCommand(ctx context.Context, name string, f func(context.Context) error) *commandRun {
	t := &turn{Run: l.j.NewRun(), config: &TurnConfig{Close: func() {}}, mode: turnMode{seq: l.rights.modeSeq}, command: true}
	t.AtBoundary = true
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	c := &commandRun{turn: t}
	l.start(t, protocol.RuntimeStart{Command: name}, func(context.Context, runtime.Run) iter.Seq[runtime.RawEvent] {
		return func(yield func(runtime.RawEvent) bool) {
			if !yield(runtime.RawEvent{Body: &protocol.RuntimeStart{}}) {
				return
			}
			if c.err = l.j.Publisher().Flush(t.ctx); c.err == nil {
				c.err = l.safely(ctx, t, f)
			}
			end := &protocol.RuntimeEnd{Reason: protocol.EndCompleted, Terminal: protocol.TerminalCompleted}
			if t.ctx.Err() != nil {
				end = t.failed(t.ctx.Err())
			}
			yield(runtime.RawEvent{Body: end})
		}
	})
	return c
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
	return f(journal.WithRun(ctx, t.Run))
}

// atBoundary runs what waits for the step boundary at which the turn is, and calls then with
// the journal locked when nothing does any more.
func (h *turnHost) atBoundary(ctx context.Context, then func() error) error {
	for {
		b, err := h.nextBoundary(ctx, then)
		if b == nil {
			return err
		}
		err = h.l.j.Publisher().Flush(ctx)
		if err == nil { // f reads what is stored
			err = h.l.safely(b.ctx, h.t, b.f)
		}
		h.l.j.Lock()
		h.t.AtBoundary = false
		h.l.j.Unlock()
		b.end(err)
	}
}

// nextBoundary returns the next function that waits; when none does it calls then.
func (h *turnHost) nextBoundary(ctx context.Context, then func() error) (*boundary, error) {
	l := h.l
	l.j.Lock()
	defer l.j.Unlock()
	for len(l.course.boundaries) > 0 && ctx.Err() == nil && !l.course.stopping { // who ends the turn leaves them to its end
		b := l.course.boundaries[0]
		l.course.boundaries = slices.Delete(l.course.boundaries, 0, 1)
		if err := b.ctx.Err(); err != nil {
			b.end(err)
			continue
		}
		if _, err := l.appendWaiting(ctx); err != nil {
			b.end(err)
			return nil, err
		}
		h.t.AtBoundary = true
		return b, nil
	}
	return nil, then()
}
