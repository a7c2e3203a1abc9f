package cli

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"scorel/client"
	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/engine/permission"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/headless"
	"scorel/internal/ui/tui"
)

// uiOptions are the flags of the terminal UI beside those that it shares with -p.
type uiOptions struct {
	remote   remoteOptions
	resume   bool
	embedded bool
	phone    bool // the way in for a phone is shown
}

// uiFlags are the flags of scorel that the terminal UI takes.
var uiFlags = []string{"model", "thinking", "permission-mode", "session", "continue", "cwd", "chrome", "channels", "remote", "token-env", "fingerprint", "resume", "embedded", "remote-control"}

// markPrompt has the help say which flags of scorel count only without the terminal UI.
func markPrompt(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Name == "print", f.Name == "bg", slices.Contains(uiFlags, f.Name):
		case slices.Contains(backgroundFlags, f.Name):
			f.Usage += " (with -p or --bg)"
		default:
			f.Usage += " (with -p)"
		}
	})
}

// terminalUI shows the terminal UI until the person leaves.
func (a *app) terminalUI(ctx context.Context, flags *pflag.FlagSet, o *promptOptions, u *uiOptions, prompt string) error {
	var refused error
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(uiFlags, f.Name) && refused == nil {
			refused = exit.Usagef("--%s needs -p; the terminal UI takes it from the configuration or by its commands", f.Name)
		}
	})
	switch {
	case refused != nil:
		return refused
	case u.resume && (o.session != "" || o.cont):
		return exit.Usagef("--resume picks a session; leave out --session and --continue")
	case u.phone && u.embedded:
		return exit.Usagef("--remote-control needs the host of this machine, which a phone can reach; leave out --embedded")
	case u.remote.set() && (u.embedded || o.cwd != ""):
		return exit.Usagef("--embedded and --cwd are about this machine; leave them out with --remote")
	}
	if err := o.check(); err != nil {
		return err
	}
	channels, err := channelNames(o.channels)
	if err != nil {
		return err
	}
	if o.mode != "" {
		if _, err := permission.ParseMode(o.mode); err != nil {
			return exit.AsUsage(err)
		}
	}
	if o.model != "" && !u.remote.set() {
		if err := o.forHost(); err != nil {
			return err
		}
	}
	var servers []string
	if o.chrome {
		servers = []string{mcp.SwitchedOn(mcp.Chrome)}
	}
	return a.showUI(ctx, u.remote, u.embedded, o.cwd, tui.Start{MCPConfig: servers, Session: o.session, Continue: o.cont, Pick: u.resume, Prompt: prompt, Model: o.model, Thinking: o.thinking, Mode: o.mode, Channels: channels, RemoteControl: u.phone})
}

// showUI shows the terminal UI, of a host elsewhere, of that of this machine, or with
// embedded of one in this process. A new session works in the folder cwd; "" is where this
// process does.
func (a *app) showUI(ctx context.Context, remote remoteOptions, embedded bool, cwd string, start tui.Start) error {
	in, isFile := a.stdin.(*os.File)
	out, isFileToo := a.stdout.(*os.File)
	if !isFile || !isFileToo || !headless.IsTerminal(in) || !headless.IsTerminal(out) {
		return exit.Usagef("the terminal UI needs a terminal; use scorel -p \"…\" in a script, or scorel attach for lines")
	}
	if a.dumb() {
		return exit.Usagef("this terminal cannot move its cursor (TERM=dumb); use scorel attach, which writes lines")
	}
	dir, err := a.scorelDir()
	if err != nil {
		return err
	}
	cfg := tui.Config{Dir: dir, Remote: remote.set(), Environ: a.environ, In: in, Out: out, Stderr: a.stderr, Version: Version, Start: start}
	if !cfg.Remote {
		if cfg.WorkDir, err = workDir("--cwd", cwd); err != nil {
			return err
		}
	}
	var own *link // the host in this process
	defer func() {
		if own != nil {
			own.Close()
		}
	}()
	cfg.Connect = func(ctx context.Context, onState func(client.Change), onOther func(string), restart func() bool) (*client.Client, error) {
		if embedded {
			l, c, err := a.embedUI(ctx, onOther)
			if own = l; err == nil {
				onState(client.Change{State: client.StateConnected})
			}
			return c, err
		}
		l, err := a.reach(ctx, reachOptions{remote: remote, start: true, name: "scorel", interactive: true, lasting: true, onState: onState, onOther: onOther, restart: restart})
		if err != nil {
			return nil, err
		}
		return l.Client, nil
	}
	return tui.Run(ctx, cfg)
}

// embedUI starts a host in this process, and a client of it that can be asked.
func (a *app) embedUI(ctx context.Context, notify func(text string)) (*link, *client.Client, error) {
	l, err := a.connect(ctx, hostOptions{terminal: true, notify: notify})
	if err != nil {
		return nil, nil, err
	}
	conn, err := l.dial(ctx, true)
	if err != nil {
		l.Close()
		return nil, nil, err
	}
	return l, client.New(conn), nil
}
