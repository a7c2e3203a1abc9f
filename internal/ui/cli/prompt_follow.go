package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxEarly bounds the updates that wait for the answer to a request; further ones are
// taken behind it.
const maxEarly = 4096

// following is a run of scorel -p that is printed while it goes on.
type following struct {
	app     *app
	link    *link
	out     printer
	res     *result
	updates <-chan observed
	early   []observed // came while a request was carried out, and are not printed yet
}

// following begins to take updates of the session; end ends that.
func (a *app) following(ctx context.Context, l *link, s *client.Session, out printer, res *result) (f *following, end func()) {
	done := make(chan struct{})
	return &following{app: a, link: l, out: out, res: res, updates: watch(ctx, s, done)}, func() { close(done) }
}

// during carries out a request. Notices are printed as they come, since they may say
// what it waits for; all else waits for its answer.
func (f *following) during(ctx context.Context, request func() error) error {
	answer := make(chan error, 1)
	go func() { answer <- request() }() // ends with ctx at the latest
	updates := f.updates
	for {
		select {
		case err := <-answer:
			return err
		case n := <-updates:
			if n.err != nil {
				updates = nil // nothing comes behind it
			}
			var err error
			n.update.Events = slices.DeleteFunc(slices.Clone(n.update.Events), func(e protocol.Event) bool {
				if e.Type != protocol.TypeNotice {
					return false
				}
				err = errors.Join(err, f.out.event(e))
				return true
			})
			if err != nil {
				return err
			}
			if f.early = append(f.early, n); len(f.early) == maxEarly {
				updates = nil
			}
		}
	}
}

// next gives the updates that came early, and then those that come.
func (f *following) next() <-chan observed {
	if len(f.early) == 0 {
		return f.updates
	}
	c := make(chan observed, 1)
	c <- f.early[0]
	f.early = f.early[1:]
	return c
}

// printEvent prints an event and takes it into the result, and says whether it ended the run.
// What of a message is too long for the log is fetched first; a stream of events has it
// as the log does.
func printEvent(ctx context.Context, l *link, out printer, res *result, e protocol.Event) (over bool, err error) {
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok || !b.Message.IsCut() {
		return res.event(e), out.event(e)
	}
	m, lost := l.Whole(ctx, res.SessionID, b.Message)
	if lost != nil {
		lost = fmt.Errorf("the whole of an answer cannot be had: %w", lost)
	}
	if p, ok := out.(*jsonPrinter); !ok || !p.stream {
		e.Body = &protocol.MessageBody{Message: m}
	}
	res.message(m)
	return false, errors.Join(out.event(e), lost)
}

// say tells people what a command has to say beside its answer.
func (f *following) say(status string) {
	if status != "" {
		fmt.Fprintln(f.app.stderr, "scorel: "+display.Line(status))
	}
}

// follow takes updates until the run has ended. An interrupt cancels the run, a
// second one ends the program.
func (f *following) follow(ctx context.Context, turn protocol.TurnID) error {
	signals, stop := interrupts()
	defer stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	interrupts := 0
	updates := f.next()
	for {
		select {
		case n := <-updates:
			updates = f.next()
			if n.err != nil {
				return n.err
			}
			for _, e := range n.update.Events {
				if over, err := printEvent(ctx, f.link, f.out, f.res, e); over || err != nil {
					return err
				}
			}
			if end := n.live.Ended; n.update.Fresh && end != nil && end.TurnID == turn {
				f.res.ended(&end.RuntimeEnd)
				return nil
			}
			if n.update.Fresh && !n.live.Running {
				return errors.New("the run ended while its events could not be read; see the session for its result")
			}
		case <-signals:
			if interrupts++; interrupts > 1 {
				return context.Canceled
			}
			if _, err := client.Call[*protocol.Cancelled](ctx, f.link.Client, f.res.SessionID, &protocol.Cancel{TurnID: turn}); err != nil {
				return err
			}
		case <-tick.C:
			f.out.tick()
		}
	}
}

// rest follows what a command has begun, such as the turn of a message that it sent,
// until nothing of it runs or waits. It says whether there was an answer of a model;
// without one, what the command printed is the result. An interrupt cancels what runs, a
// second one ends the program.
func (f *following) rest(ctx context.Context, done *protocol.CommandResult, since protocol.Seq) (answered bool, err error) {
	i := &interaction{link: f.link, out: f.out, res: f.res, seen: since}
	signals, stop := interrupts()
	defer stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	interrupted := false
	updates := f.next()
	for {
		if i.over() || i.through == nil {
			if err := i.look(ctx); err != nil {
				return false, err
			}
			i.starting = i.starting || i.turn == "" && waits(i.through)
			if i.over() {
				break
			}
		}
		select {
		case n := <-updates:
			updates = f.next()
			if err := i.take(ctx, n); err != nil {
				return false, err
			}
			for _, e := range n.update.Events {
				if b, ok := e.Body.(*protocol.QueueUpdate); ok && b.Paused {
					i.starting = false // people have to see to it
				}
			}
			if err := i.cancelTurn(ctx); err != nil {
				return false, err
			}
		case <-signals:
			if interrupted {
				return false, context.Canceled
			}
			interrupted, i.cancel = true, true
			if err := i.cancelTurn(ctx); err != nil {
				return false, err
			}
		case <-tick.C:
			f.out.tick()
		}
	}
	if f.res.NumSteps > 0 || f.res.Error != nil {
		f.say(done.Status) // the answer is the result
		return true, nil
	}
	if f.res.Terminal == "" {
		f.res.Terminal = protocol.TerminalCompleted
	}
	f.res.Result = done.Text
	if f.res.Result == "" {
		f.res.Result = done.Status
	}
	return false, nil
}

// waits says whether a message waits that begins a turn by itself.
func waits(l *protocol.Live) bool {
	return slices.ContainsFunc(l.Queues, func(q protocol.LiveQueue) bool { return len(q.Items) > 0 && !q.Paused })
}
