package follow

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"scorel/client"
	"scorel/protocol"
)

// maxHeld bounds the updates that wait for the answer to a request; further ones are
// taken after it.
const maxHeld = 4096

// tickEvery is the time between two ticks.
const tickEvery = 100 * time.Millisecond

// ErrStop ends [Follower.Run] in order when a function that it calls returns it.
var ErrStop = errors.New("stop following")

// View is what a session is shown on. Its methods are called by [Follower.Run], one at a
// time; an error ends that.
type View interface {
	// Update shows an update. It must not be changed.
	Update(u *client.Update) error
	// Interrupt handles a signal of Config.Signals.
	Interrupt(sig os.Signal) error
}

// Config is what a [Follower] needs.
type Config struct {
	Session *client.Session
	View    View
	Signals <-chan os.Signal // that interrupt; nil: none
	Tick    func() error     // is called ten times a second; nil: nothing is
}

// Follower follows one session.
type Follower struct {
	cfg    Config
	posted chan func() error

	// Of the goroutine of Run.
	asking int             // requests on their way for which updates wait
	held   []client.Update // wait for their answers
	ended  error           // why the session has ended; the answers come first
}

// New makes a follower of a session, from which nobody else takes updates.
func New(cfg Config) *Follower { return &Follower{cfg: cfg, posted: make(chan func() error)} }

// received is an update, or why none follows.
type received struct {
	update client.Update
	err    error
}

// Run shows what happens until a function that it calls returns [ErrStop], which is no
// failure, or another error; until the session ends, whose error it returns; or until ctx
// does. It is called once.
func (f *Follower) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	updates, done := f.receive(ctx)
	defer func() {
		stop()
		<-done
	}()
	var ticks <-chan time.Time
	if f.cfg.Tick != nil {
		ticker := time.NewTicker(tickEvery)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		err := f.release()
		if err == nil {
			from := updates
			if len(f.held) >= maxHeld || f.ended != nil {
				from = nil
			}
			select {
			case r := <-from:
				if f.ended = r.err; r.err == nil {
					err = f.update(r.update)
				}
			case do := <-f.posted:
				err = do()
			case sig := <-f.cfg.Signals:
				err = f.cfg.View.Interrupt(sig)
			case <-ticks:
				err = f.cfg.Tick()
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		switch {
		case errors.Is(err, ErrStop):
			return nil
		case err != nil:
			return err
		}
	}
}

// receive takes updates of the session, on a goroutine that ends with ctx or the session;
// then done is closed.
func (f *Follower) receive(ctx context.Context) (<-chan received, <-chan struct{}) {
	updates, done := make(chan received), make(chan struct{})
	go func() {
		defer close(done)
		for {
			u, err := f.cfg.Session.Next(ctx)
			select {
			case updates <- received{u, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return updates, done
}

// update shows an update, or has it wait for the answer to a request.
func (f *Follower) update(u client.Update) error {
	if f.asking == 0 {
		return f.cfg.View.Update(&u)
	}
	notices, rest := apart(u.Events)
	u.Events = rest
	f.held = append(f.held, u)
	if len(notices) == 0 {
		return nil
	}
	return f.cfg.View.Update(&client.Update{Events: notices})
}

// apart returns the notices among events, and the others.
func apart(events []protocol.Event) (notices, rest []protocol.Event) {
	isNotice := func(e protocol.Event) bool { return e.Type == protocol.TypeNotice }
	if !slices.ContainsFunc(events, isNotice) {
		return nil, events
	}
	for _, e := range events {
		if isNotice(e) {
			notices = append(notices, e)
		} else {
			rest = append(rest, e)
		}
	}
	return notices, rest
}

// release shows what waited for an answer that is there, and ends the run after the
// session.
func (f *Follower) release() error {
	for f.asking == 0 && len(f.held) > 0 {
		u := f.held[0]
		f.held = f.held[1:]
		if err := f.cfg.View.Update(&u); err != nil {
			return err
		}
	}
	if f.asking == 0 {
		return f.ended
	}
	return nil
}

// Post has a function called by Run and waits until its turn has come. It reports false
// when ctx has ended before. Any goroutine but that of Run may call it.
func (f *Follower) Post(ctx context.Context, do func() error) bool {
	select {
	case f.posted <- do:
		return true
	case <-ctx.Done():
		return false
	}
}

// Ask carries out a request on a goroutine of its own, which ends with the request, and
// calls answered by Run with its error. Updates wait until that has returned, but for
// notices. It is called before Run, or by what Run calls; ctx ends after Run has.
func (f *Follower) Ask(ctx context.Context, request func(ctx context.Context) error, answered func(err error) error) {
	f.asking++
	go func() {
		err := request(ctx)
		f.Post(ctx, func() error {
			f.asking--
			return answered(err)
		})
	}()
}
