package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"scorel/client"
	"scorel/internal/ui/cli/projectcmd"
	"scorel/internal/ui/cli/schedulecmd"
	"scorel/internal/ui/cli/webcmd"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/headless"
	"scorel/internal/ui/plain"
	"scorel/protocol"
	"scorel/protocol/display"
)

// backgroundFlags are the flags of a prompt that a session in the background has too.
var backgroundFlags = []string{"model", "thinking", "permission-mode", "allowed-tools", "disallowed-tools", "sandbox", "no-network", "mcp-config", "strict-mcp-config",
	"chrome", "channels", "tools", "max-turns", "max-budget-usd", "max-tokens", "max-minutes", "cwd", "add-dir"}

// backgroundOptions are the flags of a session in the background.
type backgroundOptions struct {
	promptOptions
	name string
	json bool
}

func (a *app) bgCommand() *cobra.Command {
	var o backgroundOptions
	cmd := &cobra.Command{Use: "bg [flags] prompt", Short: "Start a session in the background", Args: args(cobra.ArbitraryArgs),
		Long: `Starts a session on the host of this machine, sends it the prompt (and stdin), and
prints its ID. The host is started when none runs. The session works on without a
terminal; what it asks waits for somebody who attaches.

    scorel bg --name tests "make the tests pass"
    scorel ps                  # what is at work, and what waits for an answer
    scorel attach tests`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.startBackground(cmd.Context(), o, strings.Join(args, " "))
		}}
	all := &cobra.Command{}
	o.register(all)
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.name, "name", "", "what the session is called; attach, logs and kill take it")
	for _, name := range backgroundFlags {
		f.AddFlag(all.Flags().Lookup(name))
	}
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// refuseWithBackground refuses flags of scorel itself that a session in the background does
// not have.
func refuseWithBackground(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && f.Name != "bg" && !slices.Contains(backgroundFlags, f.Name) {
			err = exit.Usagef("--%s does not go with --bg; see scorel bg --help", f.Name)
		}
	})
	return err
}

// startedSession is what scorel bg --json prints.
type startedSession struct {
	SessionID protocol.SessionID `json:"sessionId"`
	Name      string             `json:"name,omitempty"`
	TurnID    protocol.TurnID    `json:"turnId,omitempty"`
}

// startBackground makes a session on the host and sends it the prompt.
func (a *app) startBackground(ctx context.Context, o backgroundOptions, text string) error {
	o.background = true
	dir, err := o.prepare()
	if err != nil {
		return err
	}
	if err := a.refuseReserved(); err != nil {
		return err
	}
	if text, err = a.withStdin(text); err != nil {
		return err
	}
	if strings.TrimSpace(text) == "" {
		return exit.Usagef("there is nothing to do: give a prompt, or text on stdin")
	}
	if err := o.forHost(); err != nil {
		return err
	}
	l, err := a.reach(ctx, reachOptions{start: true, name: "scorel bg"})
	if err != nil {
		return err
	}
	defer l.Close()
	content, err := a.attach(ctx, l, dir, text, o.allow, o.deny)
	if err != nil {
		return err
	}
	id, err := a.target(ctx, l, o.promptOptions, dir)
	if protocol.AboutOf(err).Reason == protocol.ReasonWide {
		return exit.Usagef("%s would be the workspace, which holds your whole home folder; --cwd names a smaller one, and scorel, started there, asks once whether it may be", dir)
	}
	if err != nil {
		return err
	}
	if o.name != "" {
		a.warnNamed(ctx, l, o.name)
		if _, err := client.Call[*protocol.Done](ctx, l.Client, id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Name: &o.name}}); err != nil {
			a.unused(ctx, l, id, err)
			return err
		}
	}
	sent, err := a.sendBackground(ctx, l, id, &o, text, content)
	if err != nil {
		a.unused(ctx, l, id, err)
		return err
	}
	if o.json {
		return a.printJSON(startedSession{SessionID: id, Name: o.name, TurnID: sent.TurnID})
	}
	_, err = fmt.Fprintf(a.stdout, "%s  %s\n", id, display.Line(protocol.Title(o.name, text)))
	return err
}

// warnNamed says that another session has the name already.
func (a *app) warnNamed(ctx context.Context, l *link, name string) {
	list, err := client.Call[*protocol.SessionList](ctx, l.Client, "", &protocol.ListSessions{Query: name})
	if err == nil && slices.ContainsFunc(list.Sessions, func(s protocol.SessionSummary) bool { return s.Meta.Name == name }) {
		fmt.Fprintf(a.stderr, "scorel: another session is called %q, too; use the ID with attach, logs and kill\n", name)
	}
}

// sendBackground sends the prompt, or runs the command that it names.
func (a *app) sendBackground(ctx context.Context, l *link, id protocol.SessionID, o *backgroundOptions, text string, content []protocol.Block) (*protocol.Sent, error) {
	options := o.turnOptions()
	options.Unattended = false // who attaches can answer
	run := &headless.Run{Client: l.Client, Result: headless.NewResult(id), Stderr: a.stderr, Printer: headless.NewPrinter("text", a.stdout, a.stderr)}
	command, err := run.CommandOf(ctx, text)
	if err != nil {
		return nil, err
	}
	if command == nil {
		return client.Call[*protocol.Sent](ctx, l.Client, id, &protocol.SendMessage{Content: content, WhenBusy: "reject", Options: options})
	}
	command.Options = options
	did, err := client.Call[*protocol.CommandResult](ctx, l.Client, id, command)
	if err != nil {
		return nil, err
	}
	if did.Sent == nil && !did.Queued {
		return nil, exit.Usagef("/%s starts no work; run it with scorel -p", command.Name)
	}
	return cmp.Or(did.Sent, &protocol.Sent{}), nil
}

// unused takes a session away again whose prompt the host has refused, as why says, and reports
// that it has. Where that is not known, such as when the connection has ended, the session stays
// and is named.
func (a *app) unused(ctx context.Context, l *link, id protocol.SessionID, why error) bool {
	refused := errors.As(why, new(*protocol.Error)) && !lost(why) || errors.As(why, new(exit.UsageError))
	if refused && ctx.Err() == nil {
		ctx, stop := context.WithTimeout(ctx, statusTimeout)
		defer stop()
		if _, err := client.Call[*protocol.Deleted](ctx, l.Client, id, &protocol.DeleteSession{}); err == nil {
			return true
		}
	}
	fmt.Fprintf(a.stderr, "scorel: the session %s was made; scorel logs %s shows whether it has the prompt\n", id, id)
	return false
}

// maxClosed bounds the sessions that scorel ps --all shows besides those that are open.
const maxClosed = 50

func (a *app) psCommand() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{Use: "ps", Short: "Show the sessions that are at work, and what waits for an answer", Args: args(cobra.NoArgs),
		Long: `Shows the sessions of the host that are at work, wait for an answer, have messages or
background commands left, or are in proactive mode, and open jobs that wait for somebody. With --all it shows those that are idle too, and the newest ones
that are closed.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			states, more, err := a.sessionStates(cmd.Context(), all)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(states)
			}
			return a.showStates(states, all, more)
		}}
	cmd.Flags().BoolVar(&all, "all", false, "also sessions that are idle or whose turn has failed, and the newest ones that are closed")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// shownState is a session as scorel ps shows it.
type shownState struct {
	State string `json:"state"` // asks, works, queued, proactive, failed, idle or closed
	protocol.SessionState
}

// sessionStates returns the sessions that are open, those at work alone unless all are wanted;
// more says that there are older ones.
func (a *app) sessionStates(ctx context.Context, all bool) (shown []shownState, more bool, err error) {
	shown = []shownState{}
	l, err := a.reach(ctx, reachOptions{name: "scorel ps"})
	switch {
	case noHost(err) && !all:
		return shown, false, nil
	case noHost(err):
		return a.closedStates(ctx, shown)
	case err != nil:
		return nil, false, err
	}
	defer l.Close()
	st, err := client.Call[*protocol.Status](ctx, l.Client, "", &protocol.GetStatus{})
	if err != nil {
		return nil, false, err
	}
	for _, s := range st.Sessions {
		state := display.StateOf(&s)
		if all || state != "idle" && state != "failed" || s.Job != nil && s.Job.State == protocol.JobWaiting {
			shown = append(shown, shownState{state, s})
		}
	}
	order := display.States()
	slices.SortStableFunc(shown, func(x, y shownState) int {
		return cmp.Or(cmp.Compare(slices.Index(order, x.State), slices.Index(order, y.State)), cmp.Compare(y.SessionID, x.SessionID))
	})
	if !all {
		return shown, false, nil
	}
	return listClosed(ctx, l, shown)
}

// closedStates lists the sessions of a machine without a host.
func (a *app) closedStates(ctx context.Context, shown []shownState) (_ []shownState, more bool, err error) {
	err = a.withSessions(ctx, func(l *link) error {
		shown, more, err = listClosed(ctx, l, shown)
		return err
	})
	return shown, more, err
}

// listClosed adds the newest sessions that are not open.
func listClosed(ctx context.Context, l *link, shown []shownState) ([]shownState, bool, error) {
	list, err := client.Call[*protocol.SessionList](ctx, l.Client, "", &protocol.ListSessions{Limit: maxClosed})
	if err != nil {
		return nil, false, err
	}
	for _, s := range list.Sessions {
		if s.State == nil {
			shown = append(shown, shownState{"closed", protocol.SessionState{SessionID: s.SessionID, Name: s.Meta.Name, Title: s.Title(), WorkDir: s.Meta.WorkDir, Job: s.Meta.Job}})
		}
	}
	return shown, list.More, nil
}

func (a *app) showStates(states []shownState, all, more bool) error {
	if len(states) == 0 {
		text := "No session is at work; --all shows those that are idle."
		if all {
			text = "There are no sessions."
		}
		fmt.Fprintln(a.stderr, text)
		return nil
	}
	rows := [][]string{}
	for _, s := range states {
		cost := ""
		if s.CostUSD > 0 {
			cost = fmt.Sprintf("$%.2f", s.CostUSD)
		}
		what := cmp.Or(s.Question, s.Activity)
		if what == "" && s.Queued > 0 {
			what = plain.Count(s.Queued, "waiting message")
		}
		if s.Tasks > 0 {
			what = strings.TrimPrefix(what+", "+plain.Count(s.Tasks, "background command"), ", ")
		}
		if s.State == "failed" {
			what = s.Failed
		}
		if s.State == "proactive" {
			what = display.ProactiveNext(s.Automation, time.Now())
		}
		title := plain.FirstLine(cmp.Or(s.Title, "(no message)"), 50)
		if s.Job != nil {
			title += " · job " + string(s.Job.State)
		}
		if what != "" {
			title += " · " + what
		}
		rows = append(rows, []string{string(s.SessionID), s.State, cost, title})
	}
	if err := plain.Table(a.stdout, rows); err != nil {
		return err
	}
	if more {
		fmt.Fprintln(a.stderr, "There are older ones; scorel sessions list --all --limit N shows more.")
	}
	return nil
}

func (a *app) logsCommand() *cobra.Command {
	o := tailOptions{}
	cmd := &cobra.Command{Use: "logs SESSION", Short: "Print what has happened in a session", Args: args(cobra.ExactArgs(1)),
		Long: `Prints the newest events of a session. With -f it prints further ones as they come, as
scorel tail does.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.tail(cmd.Context(), o, args[0]) }}
	f := cmd.Flags()
	f.BoolVarP(&o.follow, "follow", "f", false, "keep printing new events")
	f.IntVarP(&o.events, "lines", "n", 200, "the last N events of the path")
	f.BoolVar(&o.json, "json", false, "one JSON object a line")
	return cmd
}

// killGrace is how long a turn that is cancelled has to end before that is said.
const killGrace = 5 * time.Second

func (a *app) killCommand() *cobra.Command {
	var stop bool
	cmd := &cobra.Command{Use: "kill SESSION", Short: "End the turn, the background commands and the proactive mode of a session", Args: args(cobra.ExactArgs(1)),
		Long: `Cancels the turn that runs in a session, and ends its background commands and its proactive
mode. Messages that
wait stay and do not run by themselves; --stop removes them too. The session itself stays:
scorel attach continues it.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.kill(cmd.Context(), args[0], stop) }}
	cmd.Flags().BoolVar(&stop, "stop", false, "also remove the messages that wait")
	return cmd
}

// kill ends what runs in a session.
func (a *app) kill(ctx context.Context, name string, stop bool) error {
	l, err := a.reach(ctx, reachOptions{name: "scorel kill"})
	if err != nil {
		return err
	}
	defer l.Close()
	id, err := l.find(ctx, name)
	if err != nil {
		return err
	}
	s, err := l.Open(ctx, id, 0)
	if err != nil {
		return err
	}
	if err := headless.UntilFresh(ctx, s); err != nil {
		return err
	}
	var did []string
	if stop { // first, so that the end of the turn begins nothing
		n, err := emptyQueues(ctx, l, id, s)
		if n > 0 {
			did = append(did, plain.Count(n, "waiting message")+" removed")
		}
		if err != nil {
			return err
		}
	}
	if s.Live.Automation != nil { // before the turn ends, too
		if _, err := client.Call[*protocol.Done](ctx, l.Client, id, &protocol.SetProactive{}); err != nil {
			return err
		}
		did = append(did, "proactive mode ended")
	}
	late := false
	if s.Live.Running {
		cancelled, err := client.Call[*protocol.Cancelled](ctx, l.Client, id, &protocol.Cancel{TurnID: s.Live.TurnID})
		if err != nil {
			return err
		}
		if cancelled.Cancelled {
			did = append(did, "turn cancelled")
			late = !untilIdle(ctx, s)
		}
	}
	n, err := l.stopTasks(ctx, id)
	if n > 0 {
		did = append(did, plain.Count(n, "background command")+" ended")
	}
	if err != nil {
		return err
	}
	if len(did) == 0 {
		_, err = fmt.Fprintf(a.stdout, "Nothing runs in %s.\n", id)
		return err
	}
	if _, err := fmt.Fprintf(a.stdout, "%s: %s.\n", id, strings.Join(did, ", ")); err != nil {
		return err
	}
	if late {
		return fmt.Errorf("the turn has not ended within %v; scorel ps shows what it does", killGrace)
	}
	return nil
}

// emptyQueues removes the messages that wait in a session and returns how many there were.
func emptyQueues(ctx context.Context, l *link, id protocol.SessionID, s *client.Session) (n int, err error) {
	for _, q := range s.Live.Queues {
		if len(q.Items) == 0 {
			continue
		}
		if _, err := client.Call[*protocol.Sent](ctx, l.Client, id, &protocol.RewriteQueue{Queue: q.Queue, Replaces: q.UpdateID, Items: []protocol.QueueItem{}}); err != nil {
			return n, err
		}
		n += len(q.Items)
	}
	return n, nil
}

// stopTasks ends the background commands of a session and returns how many there were.
func (l *link) stopTasks(ctx context.Context, id protocol.SessionID) (n int, err error) {
	tasks, err := client.Call[*protocol.TaskList](ctx, l.Client, id, &protocol.ListTasks{})
	if err != nil {
		return 0, err
	}
	for _, t := range tasks.Tasks {
		if t.State != protocol.TaskRunning {
			continue
		}
		if _, err := client.Call[*protocol.TaskInfo](ctx, l.Client, id, &protocol.StopTask{TaskID: t.TaskID}); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// untilIdle waits for the end of the turn that runs, and reports whether it came in time.
func untilIdle(ctx context.Context, s *client.Session) bool {
	ctx, stop := context.WithTimeout(ctx, killGrace)
	defer stop()
	for s.Live.Running {
		if _, err := s.Next(ctx); err != nil {
			return false
		}
	}
	return true
}

// projectCommands are those about what files give a model, and allow it.
func (a *app) projectCommands() []*cobra.Command {
	return projectcmd.New(projectcmd.Config{Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr, Args: args, WorkDir: func(path string) (string, error) { return workDir("--cwd", path) }, Dir: a.scorelDir, Interactive: a.interactive,
		With: func(ctx context.Context, use func(*client.Client) error) error {
			return a.with(ctx, func(l *link) error { return use(l.Client) })
		}, Exit: func(code int) { a.code = code }})
}

// scheduleCommands are those about schedules.
func (a *app) scheduleCommands() []*cobra.Command {
	return schedulecmd.New(schedulecmd.Config{Stdout: a.stdout, Stderr: a.stderr, Notify: a.notifyOnce, Args: args, Find: findSession,
		Reach: a.reachOnce})
}

// webCommands are those with which browsers come in.
func (a *app) webCommands() []*cobra.Command {
	return webcmd.New(webcmd.Config{Stdin: a.stdin, Stdout: a.stdout, Stderr: a.stderr, Environ: a.environ, Args: args, Reach: a.reachOnce, Find: findSession,
		Dir: a.scorelDir, Interactive: a.interactive, Dumb: a.dumb, Exit: func(code int) { a.code = code }})
}

// reachOnce connects to the host for one command.
func (a *app) reachOnce(ctx context.Context, start bool, name string) (*client.Client, func(), error) {
	l, err := a.reach(ctx, reachOptions{start: start, name: name})
	if err != nil {
		return nil, nil, err
	}
	return l.Client, l.Close, nil
}

// daemonCommand has the commands of the host and of sessions in the background under the name
// that other programs give them.
func (a *app) daemonCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "daemon", Short: "The host and sessions in the background: other names of host, bg, ps, attach, logs and kill", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.daemonStatus(cmd.Context(), false) }}
	var asJSON bool
	status := &cobra.Command{Use: "status", Aliases: []string{"ps"}, Short: "Show the host and its sessions, as host status does", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.daemonStatus(cmd.Context(), asJSON) }}
	status.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	start := &cobra.Command{Use: "start", Short: "Start the host in the background, as host serve --detach does", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.detach(cmd.Context(), serveOptions{}) }}
	cmd.AddCommand(status, start, a.hostStopCommand(), a.bgCommand(), a.attachCommand(), a.logsCommand(), a.killCommand())
	return cmd
}

// daemonStatus shows the host; without one that is said, and is no failure.
func (a *app) daemonStatus(ctx context.Context, asJSON bool) error {
	s, err := a.hostStatus(ctx)
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.printJSON(s)
	}
	return a.showStatus(s)
}
