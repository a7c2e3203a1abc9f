package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"scorel/client"
	mcp "scorel/internal/engine/mcp/config"
	"scorel/internal/host"
	"scorel/internal/ui/exit"
	"scorel/internal/ui/headless"
	"scorel/protocol"
	"scorel/protocol/display"
	"strings"
)

// converse sends the prompt and follows the run to its end. Begun is called when the run takes
// the signals that interrupt it.
func (a *app) converse(ctx context.Context, o promptOptions, text string, out headless.Printer, res *headless.Result, begun func()) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	dir, err := o.prepare()
	if err != nil {
		return err
	}
	if err := a.refuseReserved(); err != nil {
		return err
	}
	if !o.streams() {
		if text, err = a.withStdin(text); err != nil {
			return err
		}
		if strings.TrimSpace(text) == "" {
			return exit.Usagef("there is nothing to send: give a prompt, or text on stdin")
		}
	}
	wide, err := a.wide(&o)
	if err != nil {
		return err
	}
	l, err := a.connect(ctx, hostOptions{noSession: o.noSession, soon: dir, overrides: host.Overrides{Model: o.model, Thinking: o.thinking,
		Mode: o.mode, Allow: o.allow, Deny: o.deny, Preset: o.tools, AdditionalDirs: o.addDirs, AppendSystemPrompt: o.append,
		MaxSteps: o.maxTurns, MaxBudgetUSD: o.most.usd, MaxTokens: o.most.tokens, MaxMinutes: o.most.minutes, Sandbox: o.sandbox, NoNetwork: o.noNetwork, MCPConfig: o.mcp, StrictMCP: o.strictMCP, Channels: o.channels, Wide: wide}})
	if err != nil {
		return err
	}
	defer l.Close()
	err = a.converseAt(ctx, l, o, dir, text, out, res, begun)
	var pe *protocol.Error
	if !errors.As(err, &pe) || pe.Code != protocol.CodeSessionLocked {
		return err
	}
	through, terr := a.throughHost(ctx, &o)
	if through == nil {
		return cmp.Or(terr, err)
	}
	defer through.Close()
	return a.converseAt(ctx, through, o, dir, text, out, res, begun)
}

// prepare checks the flags, makes folders absolute, and returns the one to work in.
func (o *promptOptions) prepare() (dir string, err error) {
	if err := o.check(); err != nil {
		return "", err
	}
	if o.schema != "" {
		if o.parsed, err = headless.ReadSchema(o.schema); err != nil {
			return "", exit.AsUsage(err)
		}
	}
	if o.workspace != "" {
		if o.cwd, err = workDir("--workspace", o.workspace); err != nil {
			return "", err
		}
	}
	if dir, err = workDir("--cwd", o.cwd); err != nil {
		return "", err
	}
	if o.channels, err = channelNames(o.channels); err != nil {
		return "", err
	}
	if o.mcp, err = readMCPConfigs(o.mcp); err != nil {
		return "", err
	}
	if o.chrome {
		if len(o.mcp) == protocol.MaxMCPConfigs {
			return "", exit.Usagef("--chrome counts as one --mcp-config, which can be given %d times; put the servers into one file", protocol.MaxMCPConfigs)
		}
		o.mcp = append(o.mcp, mcp.SwitchedOn(mcp.Chrome))
	}
	for i, d := range o.addDirs {
		if o.addDirs[i], err = workDir("--add-dir", d); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// converseAt sends the prompt to a host and follows the run. It fails with session_locked
// before anything was sent.
func (a *app) converseAt(ctx context.Context, l *link, o promptOptions, dir, text string, out headless.Printer, res *headless.Result, begun func()) error {
	var content []protocol.Block
	if strings.TrimSpace(text) != "" {
		var err error
		if content, err = a.attach(ctx, l, dir, text, o.allow, o.deny); err != nil {
			return err
		}
	}
	s, err := a.openTarget(ctx, l, o, dir, res)
	if err != nil {
		return err
	}
	err = a.converseIn(ctx, l, s, o, content, text, out, res, begun)
	if made := o.session == "" && !o.cont; err != nil && made && s.Live.PersistentLastSeq == 0 { // the prompt was refused
		_ = s.Close(ctx)
		if a.unused(ctx, l, res.SessionID, err) {
			res.SessionID = ""
		}
	}
	return err
}

// converseIn is converseAt in the session.
func (a *app) converseIn(ctx context.Context, l *link, s *client.Session, o promptOptions, content []protocol.Block, text string, out headless.Printer, res *headless.Result, begun func()) error {
	message := &protocol.SendMessage{Content: content, WhenBusy: "reject"}
	if l.serving {
		message.Options = o.turnOptions() // what runs on after the turn is the host's
		if where := s.Opened.Summary.Meta.WorkDir; a.isHome(where) || o.workspace != "" {
			message.Options.Workspace = &where
		}
	} else {
		defer headless.EndBackground(ctx, l.Client, res)
	}
	run := &headless.Run{Client: l.Client, Session: s, Printer: out, Result: res, Stderr: a.stderr, Dial: l.dial, Begun: begun}
	if o.streams() {
		return run.Requests(ctx, content, a.stdin)
	}
	command, err := run.CommandOf(ctx, text)
	switch {
	case err != nil:
		return err
	case o.parsed != nil:
		return a.structured(ctx, run, &o, message, command)
	case command == nil:
		return run.Message(ctx, message)
	}
	command.Options = message.Options
	answered, err := run.Command(ctx, command)
	if err == nil && !answered && o.output == "text" {
		_, err = fmt.Fprintln(a.stdout, display.Text(res.Result))
	}
	return err
}

// openTarget opens the session to talk to, waits for its state, and tells what a person has
// to know before.
func (a *app) openTarget(ctx context.Context, l *link, o promptOptions, dir string, res *headless.Result) (*client.Session, error) {
	id, err := a.target(ctx, l, o, dir)
	if err != nil {
		a.notifyLost(ctx, l, id)
		return nil, err
	}
	res.SessionID = id
	s, err := l.Open(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	if where := s.Opened.Summary.Meta.WorkDir; a.isHome(where) {
		fmt.Fprintln(a.stderr, "scorel: the workspace has your whole home folder in it: "+display.Line(where)+"; --cwd names a smaller one")
	}
	a.notifyFindings(s.Opened.Findings)
	if s.Opened.Interrupted != "" {
		fmt.Fprintln(a.stderr, "scorel: "+s.Opened.Interrupted)
	}
	return s, headless.UntilFresh(ctx, s)
}

// throughHost connects to the host that serves, which may have the session that this
// process cannot open. Without one it returns neither a connection nor an error.
func (a *app) throughHost(ctx context.Context, o *promptOptions) (*link, error) {
	l, err := a.reach(ctx, reachOptions{name: "scorel -p"})
	if err != nil {
		return nil, nil // whoever holds the session, it is no host that can be asked
	}
	for _, f := range []struct {
		flag string
		set  bool
	}{{"--append-system-prompt", o.append != ""}, {"--input-format stream-json", o.streams()}} {
		if f.set {
			l.Close()
			return nil, exit.Usagef("the session is open in the host of this machine, where %s does not work; leave it out, or continue in a copy with --fork", f.flag)
		}
	}
	if err := o.forHost(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// forHost makes the flags mean the same in a host, which works in another folder.
func (o *turnFlags) forHost() error {
	file, ok := strings.CutPrefix(o.model, "script:")
	if !ok {
		return nil
	}
	file, err := filepath.Abs(file)
	if err == nil {
		o.model = "script:" + file
	}
	return err
}
