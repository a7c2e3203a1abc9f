package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

// sendOptions are the flags of scorel send.
type sendOptions struct {
	steer, followUp, reject bool
	wait, json              bool
}

func (a *app) sendCommand() *cobra.Command {
	var o sendOptions
	cmd := &cobra.Command{Use: "send SESSION [message]", Short: "Send a message to a session that a host runs", Args: args(cobra.MinimumNArgs(1)),
		Long: `Sends a message (and stdin) and prints where it is: the id of its event and turn,
or of the item that waits in a queue. A host is started in the background when none
runs. While a turn runs the message waits for its end, unless a flag says else.

    scorel send ses_… "and now the tests"
    git diff | scorel send ses_… --steer "this is how it looks now"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.sendTo(cmd.Context(), o, args[0], strings.Join(args[1:], " "))
		}}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&o.followUp, "follow-up", false, "while a turn runs: wait for its end (the default)")
	f.BoolVar(&o.steer, "steer", false, "while a turn runs: go into it, at its next step")
	f.BoolVar(&o.reject, "reject", false, "while a turn runs: fail")
	f.BoolVar(&o.wait, "wait", false, "wait for the end of the turn and print the answer, with the exit codes of -p")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (o sendOptions) request(content []protocol.Block) protocol.Request {
	switch {
	case o.steer:
		return &protocol.Steer{Content: content}
	case o.reject:
		return &protocol.SendMessage{Content: content, WhenBusy: "reject"}
	}
	return &protocol.SendMessage{Content: content, WhenBusy: "followUp"}
}

func (a *app) sendTo(ctx context.Context, o sendOptions, name, text string) error {
	if o.steer && o.reject || o.steer && o.followUp || o.reject && o.followUp {
		return usagef("--follow-up, --steer and --reject exclude each other; give one")
	}
	text, err := a.withStdin(text)
	if err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return usagef("there is nothing to send: give a message, or text on stdin")
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel send", lasting: o.wait, onState: a.tellOutages(giveUp)})
	if err != nil {
		return err
	}
	defer l.Close()
	id, err := l.find(ctx, name)
	if err != nil {
		return err
	}
	dir, err := workDir("")
	if err != nil {
		return err
	}
	content, err := a.attach(ctx, l, dir, text, nil, nil)
	if err != nil {
		return err
	}
	if o.wait {
		return a.sendAndWait(ctx, l, id, o, content)
	}
	sent, err := client.Call[*protocol.Sent](ctx, l.Client, id, o.request(content))
	if err != nil {
		return err
	}
	if o.json {
		return a.printJSON(sent)
	}
	switch {
	case a.tookIt(sent):
	case sent.ItemID != "":
		_, err = fmt.Fprintf(a.stdout, "%s waits in %s\n", sent.ItemID, id)
	default:
		_, err = fmt.Fprintf(a.stdout, "%s turn %s in %s\n", sent.EventID, sent.TurnID, id)
	}
	return err
}

// sendAndWait sends and follows the turn that handles the message to its end. An
// interrupt ends the waiting, and the turn runs on: it is the host's.
func (a *app) sendAndWait(ctx context.Context, l *link, id protocol.SessionID, o sendOptions, content []protocol.Block) error {
	defer survivePipe()()
	format := "text"
	if o.json {
		format = "json"
	}
	out, res := a.newPrinter(format), &result{Type: "result", SessionID: id, started: time.Now(), Denials: []denial{}}
	err := a.awaitAnswer(ctx, l, o.request(content), out, res)
	if cause := context.Cause(ctx); errors.Is(cause, errHostGone) {
		err = cause
	}
	res.DurationMS = time.Since(res.started).Milliseconds()
	a.code = res.exitCode()
	if err != nil {
		a.code = exitOf(err)
		res.fail(err)
	}
	return out.finish(res, err)
}

func (a *app) awaitAnswer(ctx context.Context, l *link, req protocol.Request, out printer, res *result) error {
	s, err := l.Open(ctx, res.SessionID, 0)
	if err != nil {
		return err
	}
	if err := untilFresh(ctx, s); err != nil {
		return err
	}
	sent, err := client.Call[*protocol.Sent](ctx, l.Client, res.SessionID, req)
	if err != nil {
		return err
	}
	if a.tookIt(sent) {
		res.Terminal = protocol.TerminalCompleted
		return nil
	}
	w := &waiting{turn: sent.TurnID, item: sent.ItemID, event: sent.EventID}
	signals, stop := interrupts()
	defer stop()
	done := make(chan struct{})
	defer close(done)
	updates := watch(ctx, s, done)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case n := <-updates:
			if n.err != nil {
				return n.err
			}
			for _, e := range n.update.Events {
				if !w.ours(e) {
					continue
				}
				if w.another(e) {
					res.Terminal = protocol.TerminalCompleted
					return nil
				}
				a.question(res.SessionID, e)
				if err := out.event(e); err != nil {
					return err
				}
				if res.event(e) {
					return nil
				}
			}
			if end := n.live.Ended; n.update.Fresh && end != nil && end.TurnID == w.turn && w.turn != "" {
				res.ended(&end.RuntimeEnd)
				return nil
			}
			if n.update.Fresh && !n.live.Running && w.begun {
				return fmt.Errorf("the turn ended while the host was gone; scorel attach %s shows how far it came", res.SessionID)
			}
		case <-signals:
			return stoppedWaiting{res.SessionID}
		case <-tick.C:
			out.tick()
		}
	}
}

// stoppedWaiting says that an interrupt has ended the waiting, not the turn.
type stoppedWaiting struct{ id protocol.SessionID }

func (e stoppedWaiting) Error() string {
	return fmt.Sprintf("the turn runs on; scorel attach %s shows it, and scorel cancel %s ends it", e.id, e.id)
}

func (stoppedWaiting) Unwrap() error { return context.Canceled }

// question tells of a question that the turn asks: the script cannot answer it.
func (a *app) question(id protocol.SessionID, e protocol.Event) {
	what := ""
	switch b := e.Body.(type) {
	case *protocol.PermissionRequest:
		what = display.Line(b.ToolName + " " + display.Summary(b.ToolName, b.Args))
	case *protocol.UIRequest:
		what = firstLine(display.Line(b.Data.Title), 200)
		if len(b.Data.Questions) > 0 {
			what = firstLine(display.Line(b.Data.Questions[0].Question), 200)
		}
	default:
		return
	}
	fmt.Fprintf(a.stderr, "scorel: the turn waits for an answer (%s); scorel attach %s can give it\n", what, id)
}

// waiting knows which events belong to the turn of a message.
type waiting struct {
	turn  protocol.TurnID
	item  protocol.ItemID  // it waited in a queue
	event protocol.EventID // it stands in the log
	begun bool
}

// ours says whether an event belongs to the turn that handles the message: from the
// message on, when it waited.
func (w *waiting) ours(e protocol.Event) bool {
	if w.begun {
		return true
	}
	switch b := e.Body.(type) {
	case *protocol.RuntimeStart:
		w.begun = w.item == "" && e.TurnID == w.turn
	case *protocol.MessageBody:
		w.begun = e.ID == w.event || w.item != "" && b.Message.Meta != nil && b.Message.Meta.QueueItemID == w.item
	}
	return w.begun
}

// another says whether an event begins the turn of another message that waited: then
// the one before has come to its end.
func (w *waiting) another(e protocol.Event) bool {
	b, ok := e.Body.(*protocol.MessageBody)
	if !ok || b.Message.Role != protocol.RoleUser || b.Message.Meta == nil {
		return false
	}
	m := b.Message.Meta
	return m.Source == protocol.SourceFollowUp && m.QueueItemID != w.item && e.ID != w.event
}

// untilFresh waits for the live state: from here on every event comes.
func untilFresh(ctx context.Context, s *client.Session) error {
	for {
		u, err := s.Next(ctx)
		if err != nil || u.Fresh {
			return err
		}
	}
}

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{Use: "cancel SESSION", Short: "Cancel the turn that runs in a session", Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			l, err := a.reach(ctx, reachOptions{name: "scorel cancel"})
			if err != nil {
				return err
			}
			defer l.Close()
			id, err := l.find(ctx, args[0])
			if err != nil {
				return err
			}
			s, err := l.Open(ctx, id, 0)
			if err != nil {
				return err
			}
			if err := untilFresh(ctx, s); err != nil {
				return err
			}
			did := &protocol.Cancelled{}
			if s.Live.Running {
				if did, err = client.Call[*protocol.Cancelled](ctx, l.Client, id, &protocol.Cancel{TurnID: s.Live.TurnID}); err != nil {
					return err
				}
			}
			if !did.Cancelled {
				_, err = fmt.Fprintf(a.stdout, "Nothing runs in %s.\n", id)
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "Cancelled %s.\n", s.Live.TurnID)
			return err
		}}
}
