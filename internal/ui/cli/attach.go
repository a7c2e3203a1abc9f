package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"scorel/client"
	"scorel/internal/platform/disk"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/follow"
	"scorel/internal/ui/headless"
	"scorel/internal/ui/line"
	"scorel/internal/ui/tui"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/prefs"
	"scorel/protocol"
	"scorel/protocol/display"
)

// attachOptions are the flags of scorel attach.
type attachOptions struct {
	remote remoteOptions
	plain  bool
}

func (a *app) attachCommand() *cobra.Command {
	var o attachOptions
	cmd := &cobra.Command{Use: "attach [SESSION]", Short: "Watch and steer a session that a host runs", Args: args(cobra.MaximumNArgs(1)),
		Long: `Opens the terminal UI on a session, beside other terminals, browsers and scripts that
have it open. Without SESSION it is the newest one of this project, or a new one. A host
is started in the background when none runs; leaving (Ctrl-D, /quit, or closing the
window) ends nothing.

With --plain it is line mode: what happens is printed as lines and what is typed is sent,
without moving the cursor over what was shown. It is chosen where stdin or stdout is no
terminal, with TERM=dumb, and when plain = true is in ~/.scorel/tui.toml, for screen
readers. While a turn runs, what is typed waits for its end; /steer sends it into the
turn. /help lists the commands. Ctrl-C cancels the turn, twice detaches.

    scorel attach
    scorel attach --plain ses_…
    scorel attach --remote wss://desk.example:4444 --token-env SCOREL_DESK --fingerprint AB:CD:…`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			if a.wantsLines(o.plain) {
				return a.attachLines(cmd.Context(), o.remote, name)
			}
			return a.showUI(cmd.Context(), o.remote, false, "", tui.Start{Session: name, Continue: name == ""})
		}}
	cmd.Flags().BoolVar(&o.plain, "plain", false, "line mode: print lines, and move no cursor")
	o.remote.register(cmd)
	return cmd
}

// wantsLines reports whether a session is shown as lines: when that is asked for, on a
// terminal that cannot show more, without one, or by the setting for screen readers.
func (a *app) wantsLines(plain bool) bool {
	in, inFile := a.stdin.(*os.File)
	if plain || a.dumb() || !inFile || !headless.IsTerminal(in) || !headless.IsTerminal(a.stdout) {
		return true
	}
	dir, err := a.scorelDir()
	if err != nil {
		return false // the UI says what is wrong
	}
	settings, _ := prefs.Read(dir) // the UI tells of problems
	return settings.Plain
}

// attachLines shows a session in line mode.
func (a *app) attachLines(ctx context.Context, o remoteOptions, name string) error {
	dir, err := workDir("", "")
	if err != nil {
		return err
	}
	scorel, err := a.scorelDir()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer follow.SurvivePipe()()
	states := make(chan client.Change, 16)
	l, err := a.reach(ctx, reachOptions{remote: o, start: true, name: "scorel attach", interactive: true, lasting: true, onState: func(c client.Change) {
		select {
		case states <- c:
		default: // nobody has looked for long; the newest of the others says as much
		}
	}})
	if err != nil {
		return err
	}
	defer l.Close()
	id, err := a.chooseSession(ctx, l, o, dir, name)
	if err != nil {
		return err
	}
	s, err := l.Open(ctx, id, client.DefaultWindow)
	if err != nil {
		return err
	}
	keys, _ := keymap.Read(disk.OS(), filepath.Join(scorel, "keys.toml")) // the UI tells of problems
	return line.Run(ctx, line.Config{Client: l.Client, Session: s, ID: id, States: states, Dir: dir, Scorel: scorel, Keys: keys,
		In: a.stdin, Out: a.stdout, Stderr: a.stderr, Dumb: a.dumb(), NoColor: a.noColor()})
}

// chooseSession returns the session that was named, the newest of the project, or a new
// one.
func (a *app) chooseSession(ctx context.Context, l *link, o remoteOptions, dir, name string) (protocol.SessionID, error) {
	if name != "" {
		return l.find(ctx, name)
	}
	req := &protocol.ListSessions{Limit: display.NewestLook}
	var project *protocol.Project
	if !o.set() {
		var err error
		if project, err = client.Call[*protocol.Project](ctx, l.Client, "", &protocol.RegisterProject{WorkDir: dir}); err != nil {
			return "", err
		}
		for _, n := range append(project.Notices, trustLines(project)...) {
			fmt.Fprintln(a.stderr, "scorel: "+display.Line(n))
		}
		req.ProjectID = project.ProjectID
	}
	list, err := client.Call[*protocol.SessionList](ctx, l.Client, "", req)
	if err != nil {
		return "", err
	}
	newest, damaged := display.Newest(list.Sessions)
	if damaged != nil {
		fmt.Fprintln(a.stderr, "scorel: "+display.DamagedSession(damaged))
	}
	switch {
	case newest != nil:
		return newest.SessionID, nil
	case project == nil:
		return "", exit.Usagef("the host has no session yet; start one there, or name a project with scorel send")
	}
	return l.create(ctx, project.ProjectID, protocol.Meta{WorkDir: dir})
}
