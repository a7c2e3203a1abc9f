package journal

import (
	"context"
	"errors"
	"sync/atomic"

	"scorel/protocol"
)

// Run is what goes on in a session: a turn, a summary or a command. One goroutine begins
// and ends it.
type Run struct {
	ID    protocol.TurnID
	Epoch protocol.Epoch // in which it began
	// Before is the leaf when it began.
	Before protocol.EventID
	Done   chan struct{} // closed when it has ended
	Over   atomic.Bool   // it takes nothing more; set with the journal locked
	Void   atomic.Bool   // something of it could not be stored; set with the journal locked
	// AtBoundary reports that the run is at a step boundary and stays there. The journal's
	// lock guards it.
	AtBoundary bool
}

// NewRun returns a run that begins now, and that nobody knows yet. j is locked.
func (j *Journal) NewRun() *Run {
	return &Run{ID: protocol.NewTurnID(j.cfg.Rand), Epoch: j.epoch, Before: j.leaf, Done: make(chan struct{})}
}

// Begin makes run the one that goes on. j is locked.
func (j *Journal) Begin(run *Run) { j.run, j.fresh = run, nil }

// End says that none goes on any more. j is locked.
func (j *Journal) End() { j.run, j.fresh = nil, nil }

// Run returns the run that goes on, nil when there is none. j is locked.
func (j *Journal) Run() *Run { return j.run }

// Lost reports whether something of the run that goes on could not be stored, so that it
// is about to end. j is locked.
func (j *Journal) Lost() bool { return j.run != nil && j.run.Epoch != j.epoch }

// Ending returns what to wait for before the next run may begin: the end of one that
// takes nothing more, or of what holds the journal; nil for nothing. j is locked.
func (j *Journal) Ending() <-chan struct{} {
	switch {
	case j.held != nil:
		return j.held
	case j.run != nil && (j.run.Over.Load() || j.Lost()):
		return j.run.Done
	}
	return nil
}

// runKey is the key of the run at whose boundary a function runs, in its context.
type runKey struct{}

// WithRun returns a context for a function that a run calls at its boundary.
func WithRun(ctx context.Context, run *Run) context.Context {
	return context.WithValue(ctx, runKey{}, run)
}

// InRun reports whether a context is of a function that a run calls.
func InRun(ctx context.Context) bool { return ctx.Value(runKey{}) != nil }

// own reports whether ctx is of a function that the run that goes on calls. j is locked.
func (j *Journal) own(ctx context.Context) bool { return j.run != nil && ctx.Value(runKey{}) == j.run }

// MayAdd reports whether ctx may append conversation events at once: nothing goes on, or
// ctx is of a function that the run has called. j is locked.
func (j *Journal) MayAdd(ctx context.Context) bool {
	return j.run == nil || j.run.AtBoundary && j.own(ctx)
}

// Hold keeps everybody from beginning a run, moving, and adding until release is called,
// which calls then, unless it is nil, before anybody else gets the journal, and returns its
// error. j is locked now and while then runs, and must not be when release is called.
func (j *Journal) Hold() (release func(then func() error) error) {
	held := make(chan struct{})
	j.held = held
	return func(then func() error) error {
		j.Lock()
		defer j.Unlock()
		j.held = nil
		close(held) // who waits for it waits for the lock next
		if then == nil {
			return nil
		}
		return then()
	}
}

// Held returns what is closed when the journal is held no more; nil when nobody holds it.
// j is locked.
func (j *Journal) Held() <-chan struct{} { return j.held }

// ErrCancelled cancels what runs because somebody asked for it.
var ErrCancelled = errors.New("cancelled")
