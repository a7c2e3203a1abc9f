package headless

import (
	"context"
	"errors"
	"fmt"
	"os"

	"scorel/client"
	"scorel/internal/ui/follow"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// maxQuestion bounds what is shown of a question, in characters.
const maxQuestion = 200

// waitView prints the turn of a message, of whichever client the others are.
type waitView struct {
	turnView
	live protocol.Live // as far as updates have told it since the message was sent
}

// Wait sends a message and follows the turn that handles it to its end, over reconnects.
// An interrupt ends the waiting, and the turn runs on: it is the host's.
func (r *Run) Wait(ctx context.Context, req protocol.Request) error {
	signals, quiet := follow.Interrupts()
	defer quiet()
	v := &waitView{turnView: turnView{Run: r, ctx: ctx}}
	v.before = v.asks
	f := follow.New(follow.Config{Session: r.Session, View: v, Signals: signals, Tick: r.tick})
	var sent *protocol.Sent
	f.Ask(ctx, func(ctx context.Context) (err error) {
		sent, err = client.Call[*protocol.Sent](ctx, r.Client, r.Result.SessionID, req)
		return err
	}, func(err error) error {
		if err == nil {
			if err = v.sent(sent); err == nil {
				v.turn = follow.NewTurn(sent)
				err = v.stands(&client.Update{Fresh: true})
			}
		}
		return err
	})
	return f.Run(ctx)
}

// Update prints what of an update belongs to the turn.
func (v *waitView) Update(u *client.Update) error {
	u.Fold(&v.live, nil)
	err := v.turnView.Update(u)
	switch {
	case errors.Is(err, errUnseen):
		return fmt.Errorf("the turn ended while the host was gone; scorel attach %s shows how far it came", v.Result.SessionID)
	case errors.Is(err, follow.ErrStop) && v.Result.Terminal == "":
		v.Result.Terminal = protocol.TerminalCompleted // another message began its turn
	case err == nil && v.turn != nil:
		err = v.stands(u)
	}
	return err
}

// stands says on stderr that the message waits in a queue that is paused, and fails where
// somebody has taken it out.
func (v *waitView) stands(u *client.Update) error {
	id := v.Result.SessionID
	paused, err := v.turn.Stands(u, &v.live)
	if errors.Is(err, follow.ErrTakenOut) {
		return fmt.Errorf("the message was taken out of the queue, or handled while the host was gone; scorel attach %s shows what became of it", id)
	}
	if paused {
		fmt.Fprintf(v.Stderr, "scorel: the turn before the message did not come to its end, so the message waits in a paused queue: the next message to %s has it continue, and so does /queue resume in scorel attach %s\n", id, id)
	}
	return err
}

// Interrupt ends the waiting.
func (v *waitView) Interrupt(os.Signal) error {
	return stoppedWaiting{v.Result.SessionID, v.turn != nil && v.turn.Waits()}
}

// stoppedWaiting says that an interrupt has ended the waiting, not the turn.
type stoppedWaiting struct {
	id    protocol.SessionID
	queue bool // the message waits in one
}

func (e stoppedWaiting) Error() string {
	if e.queue {
		return fmt.Sprintf("the message waits until the turn before it has ended; scorel attach %s shows both", e.id)
	}
	return fmt.Sprintf("the turn continues; scorel attach %s shows it, and scorel cancel %s ends it", e.id, e.id)
}

func (stoppedWaiting) Unwrap() error { return context.Canceled }

// asks reports a question that the turn asks: a script cannot answer it.
func (v *waitView) asks(e protocol.Event) {
	what := ""
	switch b := e.Body.(type) {
	case *protocol.PermissionRequest:
		what = display.Line(b.ToolName + " " + display.Summary(b.ToolName, b.Args))
	case *protocol.UIRequest:
		what = plain.FirstLine(display.Line(b.Data.Title), maxQuestion)
		if len(b.Data.Questions) > 0 {
			what = plain.FirstLine(display.Line(b.Data.Questions[0].Question), maxQuestion)
		}
	default:
		return
	}
	fmt.Fprintf(v.Stderr, "scorel: the turn waits for an answer (%s); scorel attach %s can give it\n", what, v.Result.SessionID)
}
