package headless

import (
	"context"
	"os"
	"strings"

	"scorel/client"
	"scorel/internal/ui/follow"
	"scorel/protocol"
)

// CommandOf returns the slash command that a prompt is: one of the host, or of the
// session's templates, skills or extensions. Any other text that begins with a slash, such
// as a path, is a message: then it returns nil.
func (r *Run) CommandOf(ctx context.Context, text string) (*protocol.RunCommand, error) {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return nil, nil
	}
	name := text[1:]
	if i := strings.IndexAny(name, " \t\r\n"); i >= 0 {
		name = name[:i]
	}
	if name == "" || strings.Contains(name, "/") {
		return nil, nil
	}
	if strings.HasPrefix(name, "mcp__") { // a prompt of a server, which may only begin with it
		return &protocol.RunCommand{Name: name, Args: strings.TrimSpace(text[1+len(name):]), WhenBusy: "reject"}, nil
	}
	list, err := client.Call[*protocol.CommandList](ctx, r.Client, r.Result.SessionID, &protocol.ListCommands{})
	if err != nil {
		return nil, err
	}
	for _, c := range list.Commands {
		if means(c, name) {
			return &protocol.RunCommand{Name: name, Args: strings.TrimSpace(text[1+len(name):]), WhenBusy: "reject"}, nil
		}
	}
	for _, p := range list.Problems { // one of them may be why
		r.notify(p)
	}
	return nil, nil
}

// means reports whether a name is that of a command, alone or with its source.
func means(c protocol.CommandInfo, name string) bool {
	plain, _, _ := strings.Cut(c.Name, ":")
	return c.Name == name || plain == name || string(c.Source)+":"+plain == name || plain+":"+string(c.Source) == name
}

// commandView prints what a command has begun until nothing of it runs or waits.
type commandView struct {
	turnView
	done        *protocol.CommandResult // nil until the command is done
	activity    *follow.Activity
	through     *protocol.Live // the state that was looked up last
	wantsCancel bool           // what runs, or begins, is to be cancelled
}

// Command runs a command and follows what it has begun, such as the turn of a message that
// it sent, until nothing of it runs or waits. It reports whether a model answered; without
// that, what the command printed is the result. An interrupt cancels what runs, a second
// one ends the program.
func (r *Run) Command(ctx context.Context, run *protocol.RunCommand) (answered bool, err error) {
	signals, quiet := r.interrupts()
	defer quiet()
	v := &commandView{turnView: turnView{Run: r, ctx: ctx}, activity: follow.NewActivity(r.Session.Live.PersistentLastSeq)}
	f := follow.New(follow.Config{Session: r.Session, View: v, Signals: signals, Tick: r.tick})
	var done *protocol.CommandResult
	f.Ask(ctx, func(ctx context.Context) (err error) {
		done, err = client.Call[*protocol.CommandResult](ctx, r.Client, r.Result.SessionID, run)
		return err
	}, func(err error) error {
		if err != nil {
			return refusedAsUsage(err)
		}
		v.done = done
		if done.Sent != nil {
			r.notify(done.Status)
			return v.sent(done.Sent)
		}
		return v.look()
	})
	if err := f.Run(ctx); err != nil {
		return false, err
	}
	return v.turn != nil || v.result(), nil
}

// Update prints an update.
func (v *commandView) Update(u *client.Update) error {
	if v.done == nil || v.turn != nil {
		return v.turnView.Update(u)
	}
	if !u.Fresh {
		for _, e := range u.Events {
			if err := v.print(v.ctx, e); err != nil {
				return err
			}
		}
	}
	v.activity.Take(u)
	if err := v.cancelWanted(); err != nil {
		return err
	}
	if v.activity.Idle(v.through) {
		return v.look()
	}
	return nil
}

// look ends the run when nothing of it runs or waits at the host.
func (v *commandView) look() (err error) {
	if v.through, err = v.state(v.ctx); err != nil {
		return err
	}
	v.activity.Join(v.through)
	v.activity.Expect(v.through)
	if v.activity.Idle(v.through) {
		return follow.ErrStop
	}
	return nil
}

// Interrupt cancels what runs, and at the second time ends the program.
func (v *commandView) Interrupt(sig os.Signal) error {
	if v.turn != nil {
		return v.turnView.Interrupt(sig)
	}
	if v.interrupted || v.done == nil {
		return context.Canceled
	}
	v.interrupted, v.wantsCancel = true, true
	return v.cancelWanted()
}

func (v *commandView) cancelWanted() error {
	if !v.wantsCancel || v.activity.Turn == "" {
		return nil
	}
	v.wantsCancel = false
	return v.cancel(v.ctx, v.activity.Turn)
}

// result makes the result of a command after which nothing runs, and reports whether a
// model answered.
func (v *commandView) result() (answered bool) {
	res := v.Result
	if res.NumSteps > 0 || res.Error != nil {
		v.notify(v.done.Status) // the answer is the result
		return true
	}
	if res.Terminal == "" {
		res.Terminal = protocol.TerminalCompleted
	}
	res.Result = v.done.Text
	if res.Result == "" {
		res.Result = v.done.Status
	}
	return false
}

// state looks up the state of the session, on a connection of its own: all that has been
// asked for is in it.
func (r *Run) state(ctx context.Context) (*protocol.Live, error) {
	conn, err := r.Dial(ctx, false)
	if err != nil {
		return nil, err
	}
	c := client.New(conn)
	defer c.Close()
	s, err := c.Open(ctx, r.Result.SessionID, 0)
	if err != nil {
		return nil, err
	}
	if err := UntilFresh(ctx, s); err != nil {
		return nil, err
	}
	return &s.Live, nil
}

// UntilFresh waits for the state of a session that was opened: from there on every event
// comes.
func UntilFresh(ctx context.Context, s *client.Session) error {
	for {
		u, err := s.Next(ctx)
		if err != nil || u.Fresh {
			return err
		}
	}
}
