package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Run is a run of a session that is open, and whose state is there.
type Run struct {
	Client  *client.Client
	Session *client.Session
	Printer Printer
	Result  *Result // of the session's id
	Stderr  io.Writer
	// Begun is called when the run takes the signals that interrupt it; nil: nobody else does.
	Begun func()
	// Dial makes a further connection to the host, of a client that can be asked or of one
	// that cannot.
	Dial func(ctx context.Context, interactive bool) (client.Transport, error)
}

// errUnseen says that a run has ended and its end was not seen.
var errUnseen = errors.New("the run ended while its events could not be read; see the session for its result")

// interrupts returns the signals that interrupt the run.
func (r *Run) interrupts() (signals <-chan os.Signal, quiet func()) {
	signals, quiet = follow.Interrupts()
	if r.Begun != nil {
		r.Begun()
	}
	return signals, quiet
}

// tick has the printer show that time passes.
func (r *Run) tick() error {
	r.Printer.Tick()
	return nil
}

// print shows an event and takes it into the result. What of a message is too long for the
// log is fetched first; a stream of events has it as the log does.
func (r *Run) print(ctx context.Context, e protocol.Event) error {
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok || !b.Message.IsCut() {
		r.Result.event(e)
		return r.Printer.Event(e)
	}
	m, lost := r.Client.Whole(ctx, r.Result.SessionID, b.Message)
	if lost != nil {
		lost = fmt.Errorf("the rest of an answer is unavailable: %w", lost)
	}
	if p, ok := r.Printer.(*jsonPrinter); !ok || !p.stream {
		e.Body = &protocol.MessageBody{Message: m}
	}
	r.Result.message(m)
	return errors.Join(r.Printer.Event(e), lost)
}

// notify tells people what is not part of the result.
func (r *Run) notify(text string) {
	if text != "" {
		fmt.Fprintln(r.Stderr, "scorel: "+display.Line(text))
	}
}

// cancel cancels a turn.
func (r *Run) cancel(ctx context.Context, turn protocol.TurnID) error {
	_, err := client.Call[*protocol.Cancelled](ctx, r.Client, r.Result.SessionID, &protocol.Cancel{TurnID: turn})
	return err
}

// Handled tells that a hook has done all there was to do with a message, when it has: then
// there is no turn to wait for.
func Handled(stderr io.Writer, sent *protocol.Sent) bool {
	if sent.Handled == "" {
		return false
	}
	fmt.Fprintf(stderr, "scorel: %s took the message; nothing of it is stored\n", display.Line(sent.Handled))
	return true
}

// turnView prints a run until its turn has ended.
type turnView struct {
	*Run
	ctx         context.Context
	id          protocol.TurnID
	turn        *follow.Turn         // nil until the message is sent
	before      func(protocol.Event) // is called before an event is printed; nil: nothing is
	interrupted bool
}

// Message sends a message and follows the run to its end. An interrupt cancels the run, a
// second one ends the program.
func (r *Run) Message(ctx context.Context, message *protocol.SendMessage) error {
	signals, quiet := r.interrupts()
	defer quiet()
	v := &turnView{Run: r, ctx: ctx}
	f := follow.New(follow.Config{Session: r.Session, View: v, Signals: signals, Tick: r.tick})
	var sent *protocol.Sent
	f.Ask(ctx, func(ctx context.Context) (err error) {
		sent, err = client.Call[*protocol.Sent](ctx, r.Client, r.Result.SessionID, message)
		return err
	}, func(err error) error {
		if err == nil {
			err = v.sent(sent)
		}
		return err
	})
	return f.Run(ctx)
}

// sent begins to wait for the turn of a message.
func (v *turnView) sent(sent *protocol.Sent) error {
	if Handled(v.Stderr, sent) {
		v.Result.Terminal = protocol.TerminalCompleted
		return follow.ErrStop
	}
	v.id, v.turn = sent.TurnID, follow.NewTurn(sent).All()
	if v.interrupted {
		return v.cancel(v.ctx, v.id)
	}
	return nil
}

// Update prints an update.
func (v *turnView) Update(u *client.Update) error {
	if v.turn == nil { // notices
		for _, e := range u.Events {
			if err := v.Printer.Event(e); err != nil {
				return err
			}
		}
		return nil
	}
	events, ended, err := v.turn.Take(u)
	for _, e := range events {
		if v.before != nil {
			v.before(e)
		}
		if err := v.print(v.ctx, e); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(err, follow.ErrUnseen):
		return errUnseen
	case err != nil:
		return err
	case ended.End != nil:
		v.Result.ended(ended.End)
	}
	if ended.Over {
		return follow.ErrStop
	}
	return nil
}

// Interrupt cancels the turn, as soon as it is there, and at the second time ends the program.
func (v *turnView) Interrupt(os.Signal) error {
	if v.interrupted {
		return context.Canceled
	}
	v.interrupted = true
	if v.turn == nil {
		return nil
	}
	return v.cancel(v.ctx, v.id)
}

// refusedAsUsage makes it a wrong command line when a host does not run what a prompt
// names.
func refusedAsUsage(err error) error {
	var pe *protocol.Error
	if errors.As(err, &pe) && (pe.Code == protocol.CodeForbidden || pe.Code == protocol.CodePayloadTooLarge) {
		return exit.AsUsage(err)
	}
	return err
}
