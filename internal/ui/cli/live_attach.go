package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/protocol"
	"scorel/protocol/display"
)

func (a *app) attachCommand() *cobra.Command {
	var o remoteOptions
	cmd := &cobra.Command{Use: "attach [SESSION]", Short: "Watch and steer a session that a host runs", Args: args(cobra.MaximumNArgs(1)),
		Long: `Shows a session as it runs, and sends what is typed: beside other terminals,
browsers and scripts that have it open. Without SESSION it is the newest one of
this project, or a new one. A host is started in the background when none runs;
leaving (Ctrl-D, /quit, or closing the window) ends nothing.

While a turn runs, what is typed waits for its end; /steer puts it into the turn.
/help lists the commands. Ctrl-C cancels the turn, twice detaches.

    scorel attach
    scorel attach --remote wss://desk.example:4444 --token-env SCOREL_DESK --fingerprint AB:CD:…`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return a.attachTo(cmd.Context(), o, name)
		}}
	o.register(cmd)
	return cmd
}

// errLeft says that the person leaves.
var errLeft = errors.New("left")

func (a *app) attachTo(ctx context.Context, o remoteOptions, name string) error {
	dir, err := workDir("")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer survivePipe()()
	v := &liveSession{app: a, dir: dir, work: make(chan liveJob, maxLiveWork), results: make(chan func())}
	states := make(chan client.Change, 16)
	link, err := a.reach(ctx, reachOptions{remote: o, start: true, name: "scorel attach", interactive: true, lasting: true, onState: func(c client.Change) {
		select {
		case states <- c:
		default: // nobody has looked for long; the newest of the others says as much
		}
	}})
	if err != nil {
		return err
	}
	defer link.Close()
	v.link = link
	if v.id, err = v.choose(ctx, o, name); err != nil {
		return err
	}
	if v.s, err = link.Open(ctx, v.id, liveTail); err != nil {
		return err
	}
	input, restore, err := v.openScreen(ctx)
	if err != nil {
		return err
	}
	defer restore()
	if v.term != nil {
		v.say("session " + string(v.id) + titled(v.s.Opened.Summary) + "; /help lists the commands")
	}
	for _, f := range v.s.Opened.Findings {
		v.screen.line(alertStyle, "the session log: "+f)
	}
	if v.s.Opened.ReadOnly != "" {
		text := "nothing can be written: " + v.s.Opened.ReadOnly
		if v.s.Opened.NeedsLeaf {
			text += ": scorel sessions repair " + string(v.id) + " --leaf EVENT"
		}
		v.screen.line(alertStyle, text)
	}
	if v.s.Opened.Interrupted != "" {
		v.screen.line(alertStyle, v.s.Opened.Interrupted)
	}
	err = v.run(ctx, input, states)
	running := v.live.Running
	restore()
	if !errors.Is(err, errLeft) {
		return err
	}
	for _, text := range v.sending {
		fmt.Fprintln(a.stderr, "scorel: the host has not confirmed: "+display.Line(text))
	}
	if running {
		fmt.Fprintf(a.stderr, "scorel: detached; the turn runs on. scorel attach %s shows it.\n", v.id)
	} else {
		fmt.Fprintf(a.stderr, "scorel: detached; scorel attach %s comes back.\n", v.id)
	}
	return nil
}

// titled is the title of a session behind its id, if there is one.
func titled(s protocol.SessionSummary) string {
	if t := display.Line(s.Title()); t != "" {
		return " (" + t + ")"
	}
	return ""
}

// choose gives the session that was named, the newest of the project, or a new one.
func (v *liveSession) choose(ctx context.Context, o remoteOptions, name string) (protocol.SessionID, error) {
	if name != "" {
		return v.link.find(ctx, name)
	}
	req := &protocol.ListSessions{Limit: 1}
	var project *protocol.Project
	if !o.set() {
		var err error
		if project, err = client.Call[*protocol.Project](ctx, v.link.Client, "", &protocol.RegisterProject{WorkDir: v.dir}); err != nil {
			return "", err
		}
		for _, n := range append(project.Notices, trustLines(project)...) {
			fmt.Fprintln(v.app.stderr, "scorel: "+display.Line(n))
		}
		req.ProjectID = project.ProjectID
	}
	list, err := client.Call[*protocol.SessionList](ctx, v.link.Client, "", req)
	switch {
	case err != nil:
		return "", err
	case len(list.Sessions) > 0:
		return list.Sessions[0].SessionID, nil
	case project == nil:
		return "", usagef("the host has no session yet; begin one there, or name a project with scorel send")
	}
	return v.link.create(ctx, project.ProjectID, protocol.Meta{WorkDir: v.dir})
}
