package headless

import (
	"context"
	"errors"
	"io"
	"os"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/protocol"
)

// errNothing says that the input held no request.
var errNothing = errors.New("the input held no request; send lines such as {\"type\":\"send_message\",\"content\":[{\"type\":\"text\",\"text\":\"…\"}]}")

// requestsView prints a run that takes requests while it goes on.
type requestsView struct {
	*Run
	ctx context.Context
	in  *input
	out *jsonPrinter

	activity    *follow.Activity
	through     *protocol.Live // set when the input has ended: the state after all that it brought
	requests    int
	wantsCancel bool // what runs, or begins, is to be cancelled
	interrupted bool
}

// Requests sends a prompt, if there is one, and handles the requests that come from in,
// printing events and answers as they come. It ends when in has ended and no turn runs. An
// interrupt ends the input and cancels the turn, a second one ends the program. The
// printer is that of stream-json.
func (r *Run) Requests(ctx context.Context, prompt []protocol.Block, in io.Reader) error {
	requests, err := newInput(ctx, r.Dial, r.Result.SessionID)
	if err != nil {
		return err
	}
	defer requests.close()
	signals, quiet := r.interrupts()
	defer quiet()
	v := &requestsView{Run: r, ctx: ctx, in: requests, out: r.Printer.(*jsonPrinter), activity: follow.NewActivity(r.Session.Live.PersistentLastSeq)}
	f := follow.New(follow.Config{Session: r.Session, View: v, Signals: signals})
	requests.post = func(do func() error) { f.Post(requests.ctx, do) }
	var first protocol.Request
	if len(prompt) > 0 {
		v.requests++
		first = &protocol.SendMessage{Content: prompt, WhenBusy: "reject"}
	}
	go requests.read(first, in, v.reply, v.endInput) // ends with in or the program; nobody waits for it once the run is over
	if err := f.Run(ctx); err != nil {
		return err
	}
	switch {
	case v.interrupted && v.activity.Runs == 0:
		return context.Canceled
	case v.requests == 0:
		return exit.AsUsage(errNothing)
	case v.activity.Runs == 0:
		r.Result.Terminal = protocol.TerminalCompleted
	}
	return nil
}

// Update prints an update.
func (v *requestsView) Update(u *client.Update) error {
	if !u.Fresh {
		for _, e := range u.Events {
			if err := v.print(v.ctx, e); err != nil {
				return err
			}
		}
	}
	v.activity.Take(u)
	return v.settle()
}

// reply prints what became of a request.
func (v *requestsView) reply(r protocol.Reply) error {
	if v.through != nil { // it came after the end that an interrupt made
		return nil
	}
	v.requests++
	return v.out.reply(r)
}

// endInput closes the connection that could be asked, so that open questions are refused,
// and looks up to where the requests have led.
func (v *requestsView) endInput() (err error) {
	if v.through != nil {
		return nil
	}
	if err := v.in.refuseQuestions(); err != nil {
		return err
	}
	if v.through, err = v.state(v.ctx); err != nil {
		return err
	}
	v.activity.Join(v.through)
	return v.settle()
}

// Interrupt ends the input and cancels what runs, and at the second time ends the program.
func (v *requestsView) Interrupt(os.Signal) error {
	if v.interrupted {
		return context.Canceled
	}
	v.interrupted, v.wantsCancel = true, true
	if err := v.cancelWanted(); err != nil { // before the end of the input, which would refuse an open question
		return err
	}
	return v.endInput()
}

// settle cancels what an interrupt wants to end, and ends the run when nothing is left to
// wait for.
func (v *requestsView) settle() error {
	if err := v.cancelWanted(); err != nil {
		return err
	}
	if v.through != nil && v.activity.Idle(v.through) {
		return follow.ErrStop
	}
	return nil
}

func (v *requestsView) cancelWanted() error {
	if !v.wantsCancel || v.activity.Turn == "" {
		return nil
	}
	v.wantsCancel = false
	return v.cancel(v.ctx, v.activity.Turn)
}
