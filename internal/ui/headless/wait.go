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
type waitView struct{ turnView }

// Wait sends a message and follows the turn that handles it to its end, over reconnects.
// An interrupt ends the waiting, and the turn runs on: it is the host's.
func (r *Run) Wait(ctx context.Context, req protocol.Request) error {
	signals, quiet := follow.Interrupts()
	defer quiet()
	v := &waitView{turnView{Run: r, ctx: ctx}}
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
			}
		}
		return err
	})
	return f.Run(ctx)
}

// Update prints what of an update belongs to the turn.
func (v *waitView) Update(u *client.Update) error {
	err := v.turnView.Update(u)
	switch {
	case errors.Is(err, errUnseen):
		return fmt.Errorf("the turn ended while the host was gone; scorel attach %s shows how far it came", v.Result.SessionID)
	case errors.Is(err, follow.ErrStop) && v.Result.Terminal == "":
		v.Result.Terminal = protocol.TerminalCompleted // another message began its turn
	}
	return err
}

// Interrupt ends the waiting.
func (v *waitView) Interrupt(os.Signal) error { return stoppedWaiting{v.Result.SessionID} }

// stoppedWaiting says that an interrupt has ended the waiting, not the turn.
type stoppedWaiting struct{ id protocol.SessionID }

func (e stoppedWaiting) Error() string {
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
