package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/internal/ui/headless"
	"scorel/protocol"
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
runs. While a turn runs the message waits for its end, unless a flag says otherwise.

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

// message returns the text to send, with what is piped in.
func (a *app) message(o sendOptions, text string) (string, error) {
	if o.steer && o.reject || o.steer && o.followUp || o.reject && o.followUp {
		return "", exit.Usagef("--follow-up, --steer and --reject exclude each other; use one")
	}
	text, err := a.withStdin(text)
	if err == nil && strings.TrimSpace(text) == "" {
		err = exit.Usagef("there is nothing to send: give a message, or text on stdin")
	}
	return text, err
}

func (a *app) sendTo(ctx context.Context, o sendOptions, name, text string) error {
	text, err := a.message(o, text)
	if err != nil {
		return err
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel send", lasting: o.wait, onState: a.notifyOutages(giveUp)})
	if err != nil {
		return err
	}
	defer l.Close()
	id, err := l.find(ctx, name)
	if err != nil {
		return err
	}
	dir, err := workDir("", "")
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
	a.notifyLost(ctx, l, id)
	if err != nil {
		return err
	}
	return a.showSent(o, id, sent)
}

// showSent prints where a message is.
func (a *app) showSent(o sendOptions, id protocol.SessionID, sent *protocol.Sent) (err error) {
	switch {
	case o.json:
		return a.printJSON(sent)
	case headless.Handled(a.stderr, sent):
	case sent.ItemID != "":
		_, err = fmt.Fprintf(a.stdout, "%s waits in %s\n", sent.ItemID, id)
	default:
		_, err = fmt.Fprintf(a.stdout, "%s turn %s in %s\n", sent.EventID, sent.TurnID, id)
	}
	return err
}

// sendAndWait sends and follows the turn that handles the message to its end.
func (a *app) sendAndWait(ctx context.Context, l *link, id protocol.SessionID, o sendOptions, content []protocol.Block) error {
	defer follow.SurvivePipe()()
	format := "text"
	if o.json {
		format = "json"
	}
	out, res := headless.NewPrinter(format, a.stdout, a.stderr), headless.NewResult(id)
	err := a.awaitAnswer(ctx, l, o.request(content), out, res)
	if cause := context.Cause(ctx); errors.Is(cause, errHostGone) {
		err = cause
	}
	return a.finish(err, out, res)
}

func (a *app) awaitAnswer(ctx context.Context, l *link, req protocol.Request, out headless.Printer, res *headless.Result) error {
	s, err := l.Open(ctx, res.SessionID, 0)
	if err != nil {
		return err
	}
	a.notifyFindings(s.Opened.Findings)
	if err := headless.UntilFresh(ctx, s); err != nil {
		return err
	}
	run := &headless.Run{Client: l.Client, Session: s, Printer: out, Result: res, Stderr: a.stderr, Dial: l.dial}
	return run.Wait(ctx, req)
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
			turn, err := l.cancelTurn(ctx, id)
			if err != nil {
				return err
			}
			if turn == "" {
				_, err = fmt.Fprintf(a.stdout, "Nothing runs in %s.\n", id)
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "Cancelled %s.\n", turn)
			return err
		}}
}

// cancelTurn cancels the turn that runs in a session, and returns which, "" for none.
func (l *link) cancelTurn(ctx context.Context, id protocol.SessionID) (protocol.TurnID, error) {
	s, err := l.Open(ctx, id, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close(ctx) }() // the connection goes with the command
	if err := headless.UntilFresh(ctx, s); err != nil || !s.Live.Running {
		return "", err
	}
	did, err := client.Call[*protocol.Cancelled](ctx, l.Client, id, &protocol.Cancel{TurnID: s.Live.TurnID})
	if err != nil || !did.Cancelled {
		return "", err
	}
	return s.Live.TurnID, nil
}
