package cli

import (
	"context"
	"os"

	"github.com/spf13/pflag"

	"scorel/client"
	"scorel/internal/engine/permission"
	"scorel/internal/ui/tui"
)

// uiOptions are the flags of the terminal UI beside those that it shares with -p.
type uiOptions struct {
	remote   remoteOptions
	resume   bool
	embedded bool
}

// terminalUI shows the terminal UI until the person leaves.
func (a *app) terminalUI(ctx context.Context, flags *pflag.FlagSet, o *promptOptions, u *uiOptions, prompt string) error {
	shared := map[string]bool{"model": true, "thinking": true, "permission-mode": true, "session": true, "continue": true, "cwd": true,
		"remote": true, "token-env": true, "fingerprint": true, "resume": true, "embedded": true}
	var refused error
	flags.Visit(func(f *pflag.Flag) {
		if !shared[f.Name] && refused == nil {
			refused = usagef("--%s needs -p; the terminal UI takes it from the configuration or by its commands", f.Name)
		}
	})
	switch {
	case refused != nil:
		return refused
	case u.resume && (o.session != "" || o.cont):
		return usagef("--resume picks a session; leave out --session and --continue")
	case u.remote.set() && (u.embedded || o.cwd != ""):
		return usagef("--embedded and --cwd are about this machine; leave them out with --remote")
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.mode != "" {
		if _, err := permission.ParseMode(o.mode); err != nil {
			return usageError{err}
		}
	}
	in, isFile := a.stdin.(*os.File)
	out, isFileToo := a.stdout.(*os.File)
	if !isFile || !isFileToo || !isTerminal(in) || !isTerminal(out) {
		return usagef("the terminal UI needs a terminal; use scorel -p \"…\" in a script, or scorel attach for lines")
	}
	if a.dumb() {
		return usagef("this terminal cannot move its cursor (TERM=dumb); use scorel attach, which writes lines")
	}
	dir, err := a.scorelDir()
	if err != nil {
		return err
	}
	cfg := tui.Config{Dir: dir, Remote: u.remote.set(), Environ: a.environ, In: in, Out: out, Stderr: a.stderr, Version: Version,
		Start: tui.Start{Session: o.session, Continue: o.cont, Pick: u.resume, Prompt: prompt, Model: o.model, Thinking: o.thinking, Mode: o.mode}}
	if !cfg.Remote {
		if cfg.WorkDir, err = workDir(o.cwd); err != nil {
			return err
		}
	}
	var embedded *link
	defer func() {
		if embedded != nil {
			embedded.Close()
		}
	}()
	cfg.Connect = func(ctx context.Context, onState func(client.Change), onOther func(string), restart func() bool) (*client.Client, error) {
		if u.embedded {
			l, err := a.connect(ctx, hostOptions{})
			if err != nil {
				return nil, err
			}
			conn, err := l.dial(ctx, true)
			if err != nil {
				l.Close()
				return nil, err
			}
			embedded = l
			onState(client.Change{State: client.StateConnected})
			return client.New(conn), nil
		}
		l, err := a.reach(ctx, reachOptions{remote: u.remote, start: true, name: "scorel", interactive: true, lasting: true, onState: onState, onOther: onOther, restart: restart})
		if err != nil {
			return nil, err
		}
		return l.Client, nil
	}
	return tui.Run(ctx, cfg)
}
