package journal

import (
	"context"

	"scorel/internal/host/publish"
	"scorel/protocol"
)

// Await returns when done is closed, or with the error of ctx.
func Await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// WaitFor returns when what a ticket stands for is durable; nil waits for nothing.
func WaitFor(ctx context.Context, ticket *publish.Ticket, err error) error {
	if err != nil || ticket == nil {
		return err
	}
	return ticket.Wait(ctx)
}

// When calls f with j locked as soon as blocked, which is called with j locked too, names
// nothing to wait for. It returns the error of f, of blocked, or of ctx.
func (j *Journal) When(ctx context.Context, blocked func() (<-chan struct{}, error), f func() error) error {
	for {
		wait, err := j.try(blocked, f)
		if wait == nil || err != nil {
			return err
		}
		if err := Await(ctx, wait); err != nil {
			return err
		}
	}
}

func (j *Journal) try(blocked func() (<-chan struct{}, error), f func() error) (<-chan struct{}, error) {
	j.Lock()
	defer j.Unlock()
	wait, err := blocked()
	if wait != nil || err != nil {
		return wait, err
	}
	return nil, f()
}

// Write calls f with j locked when no run is ending because something of it was lost: what
// a client asks for has nothing to do with that. What a function asks for that such a run
// calls, and so waits for, is refused.
func (j *Journal) Write(ctx context.Context, f func() error) error {
	return j.When(ctx, func() (<-chan struct{}, error) { return j.losing(ctx) }, f)
}

// Add is Write for what belongs to the conversation: it waits, too, for what holds the
// journal while nothing runs.
func (j *Journal) Add(ctx context.Context, f func() error) error {
	return j.When(ctx, func() (<-chan struct{}, error) {
		if wait, err := j.losing(ctx); wait != nil || err != nil {
			return wait, err
		}
		return j.moving(), nil
	}, f)
}

// Enter is Add without the wait for a run of which something was lost: it may be called by
// what that run waits for.
func (j *Journal) Enter(ctx context.Context, f func() error) error {
	return j.When(ctx, func() (<-chan struct{}, error) { return j.moving(), nil }, f)
}

// losing returns the end of a run of which something was lost. j is locked.
func (j *Journal) losing(ctx context.Context) (<-chan struct{}, error) {
	switch {
	case !j.Lost():
		return nil, nil
	case j.own(ctx):
		return nil, protocol.Errorf(protocol.CodeStorageError, "An earlier event of this command could not be stored, so nothing that follows it is.")
	}
	return j.run.Done, nil
}

// moving returns the end of what holds the journal while nothing runs. j is locked.
func (j *Journal) moving() <-chan struct{} {
	if j.run != nil {
		return nil
	}
	return j.held
}

// Store appends an event for a request and returns when it is durable.
func (j *Journal) Store(ctx context.Context, body protocol.Body, a Author) (protocol.Event, error) {
	return j.store(ctx, j.Writable, body, a)
}

// Record is Store also while the session is being closed, until its background commands
// have ended.
func (j *Journal) Record(ctx context.Context, body protocol.Body, a Author) error {
	_, err := j.store(ctx, j.ReadOnly, body, a)
	return err
}

func (j *Journal) store(ctx context.Context, may func() error, body protocol.Body, a Author) (e protocol.Event, err error) {
	var ticket *publish.Ticket
	err = j.Write(ctx, func() error {
		if err := may(); err != nil {
			return err
		}
		e, ticket, err = j.Append(ctx, body, a)
		return err
	})
	return e, WaitFor(ctx, ticket, err)
}

// Force appends an event whatever goes on, and returns when it is durable.
func (j *Journal) Force(ctx context.Context, body protocol.Body, a Author) error {
	j.Lock()
	_, ticket, err := j.Append(ctx, body, a)
	j.Unlock()
	return WaitFor(ctx, ticket, err)
}
