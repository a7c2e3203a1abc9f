package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"scorel/internal/engine/hook"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/tool/files"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// maxShellTime is how long a command of a person may run: they watch it and can end it,
// so it is longer than what a model may ask for.
const maxShellTime = time.Hour

// runShell runs a command that a person has typed: as Bash does, in the session's folder,
// with the same environment and in the same sandbox, so that what it can touch is what
// commands of the session can. Extensions may refuse or answer it. Nobody else is asked, and
// no permission rule or mode counts.
func (cs *Commands) runShell(ctx context.Context, l *lane.Lane, by lane.Caller, r *protocol.RunShell) (*protocol.ShellStarted, error) {
	if err := cs.extensions.Of(l.ID()).Load(ctx); err != nil { // they may refuse it
		return nil, err
	}
	call, release, err := cs.shellCall(ctx, l, r.Command)
	if err != nil {
		return nil, err
	}
	if r.Monitor {
		started := &monitored{release: release}
		if started.Prepared, err = tool.Watched(call, l.Tasks().Set(), release); err != nil {
			release()
			return nil, err
		}
		call, release, r.InContext = started, started.unlessStarted, true
	}
	if chain := l.CommandHooks(ctx); chain != nil {
		call = asked{call, chain, hook.UserCommand{Command: r.Command, Dir: l.Meta().WorkDir, InContext: r.InContext}}
	}
	return l.Shells().Run(ctx, by, protocol.Shell{Command: r.Command, InContext: r.InContext}, call, release)
}

// shellCall makes a command ready to run; release gives back what it holds. It needs no
// model.
func (cs *Commands) shellCall(ctx context.Context, l *lane.Lane, command string) (call tool.Prepared, release func(), err error) {
	dir, root, err := cs.settings.SessionWorkspace(l.Meta().WorkDir, cs.settings.Overrides.Wide)
	if err != nil {
		return nil, nil, err
	}
	cfg, err := cs.settings.Load(root)
	if err != nil {
		return nil, nil, err
	}
	box, err := cs.boxes.Box(l.ID(), cfg, cs.settings.Overrides, root)
	if err != nil {
		return nil, nil, err
	}
	opened, err := cs.turns.OpenFiles(cfg, cs.settings.Overrides, root)
	if err != nil {
		return nil, nil, err
	}
	shell := shellIn(tool.Setting{Files: opened, Spawn: cs.boxes.Spawner(l.ID(), box), Environ: cs.settings.ChildEnviron(cfg)}, dir)
	input, err := json.Marshal(map[string]any{"command": command, "timeout_seconds": int(maxShellTime.Seconds())})
	if err != nil {
		opened.Close()
		return nil, nil, err
	}
	if call, err = shell.Prepare(ctx, tool.Call{Input: input}); err != nil {
		opened.Close()
		return nil, nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	return call, func() { call.Close(); opened.Close() }, nil
}

// monitored is a command that runs on when its call has ended: what it holds is given back
// at its own end.
type monitored struct {
	tool.Prepared
	started bool // by the goroutine that runs the call
	release func()
}

// Run implements [tool.Prepared].
func (m *monitored) Run(ctx context.Context, update func(string)) (tool.Result, error) {
	m.started = true
	return m.Prepared.Run(ctx, update)
}

// unlessStarted gives back what a command holds that was not started.
func (m *monitored) unlessStarted() {
	if !m.started {
		m.release()
	}
}

// asked is a command of which hooks are asked when it is about to run.
type asked struct {
	tool.Prepared
	chain *hook.Chain
	ask   hook.UserCommand
}

// maxAnswered bounds what is shown of the output that a hook gives for a command, in bytes;
// the whole is a payload.
const maxAnswered = 30_000

// Run implements [tool.Prepared].
func (a asked) Run(ctx context.Context, update func(string)) (tool.Result, error) {
	said, err := a.chain.UserCommand(ctx, a.ask)
	switch {
	case err != nil:
		return tool.Result{}, err
	case said.Deny:
		return tool.Result{}, said.Refusal()
	case said.Result == nil:
		return a.Prepared.Run(ctx, update)
	}
	r := tool.Result{Details: protocol.ToolDetails{ExitCode: said.Result.ExitCode, Cancelled: said.Result.Cancelled}}
	note := "[The " + said.From + " answered in place of the command.]\n"
	output := said.Result.Output
	if len(output) > maxAnswered {
		r.Full = io.NopCloser(strings.NewReader(output))
		head, tail := strings.ToValidUTF8(output[:maxAnswered/2], ""), strings.ToValidUTF8(output[len(output)-maxAnswered/2:], "")
		output = fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, len(said.Result.Output)-len(head)-len(tail), tail)
	}
	r.Content = []protocol.Block{protocol.Text(note + output)}
	return r, nil
}

// shellIn returns the tool that runs commands, for commands that begin in dir and are of no
// turn.
func shellIn(setting tool.Setting, dir string) tool.Tool { return alone(tool.Shell(), setting, dir) }

// alone returns a tool as it works in a folder, outside of any turn.
func alone(t tool.Tool, setting tool.Setting, dir string) tool.Tool {
	return tool.Bind([]tool.Tool{t}, setting, tool.Session{Dir: tool.NewDir(dir), Seen: files.NewSeen(nil)})[0]
}

// handleShell enters the handlers of this file's requests.
func (cs *Commands) handleShell(t request.Table) {
	request.InSession(t, func(ctx context.Context, at *request.Target, r *protocol.RunShell) (protocol.Response, error) {
		return cs.runShell(ctx, at.Lane, at.By, r)
	})
	request.InSession(t, func(_ context.Context, at *request.Target, r *protocol.StopShell) (protocol.Response, error) {
		return &protocol.Cancelled{Cancelled: at.Lane.Shells().Cancel(r.EventID)}, nil
	})
}
