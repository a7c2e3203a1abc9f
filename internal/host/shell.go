package host

import (
	"context"
	"encoding/json"
	"time"

	"scorel/internal/engine/tool"
	"scorel/internal/host/lane"
	"scorel/protocol"
)

// maxShellTime is how long a command of a person may run: they watch it and can end it,
// so it is longer than what a model may ask for.
const maxShellTime = time.Hour

// runShell runs a command that a person has typed: as Bash does, in the session's folder,
// with the same environment and in the same sandbox, so that what it can touch is what
// commands of the session can. Nobody is asked, and no permission rule or mode counts.
func (h *Host) runShell(ctx context.Context, l *lane.Lane, by lane.Caller, r *protocol.RunShell) (*protocol.ShellStarted, error) {
	call, release, err := h.shellCall(ctx, l, r.Command)
	if err != nil {
		return nil, err
	}
	return l.RunShell(ctx, by, protocol.Shell{Command: r.Command, InContext: r.InContext}, call, release)
}

// shellCall makes a command ready to run; release gives back what it holds. It needs no
// model.
func (h *Host) shellCall(ctx context.Context, l *lane.Lane, command string) (call tool.Prepared, release func(), err error) {
	dir, root, err := h.workspace(l.Meta().WorkDir, h.cfg.Overrides.Wide)
	if err != nil {
		return nil, nil, err
	}
	cfg, err := h.loadConfig(root)
	if err != nil {
		return nil, nil, err
	}
	box, err := h.sandbox(l.ID(), cfg, h.cfg.Overrides, root)
	if err != nil {
		return nil, nil, err
	}
	files, err := h.openFiles(cfg, h.cfg.Overrides, root)
	if err != nil {
		return nil, nil, err
	}
	env := &tool.Env{Files: files, Spawn: confiner{h, l.ID(), box}, Environ: h.childEnviron(cfg), Dir: tool.NewDir(dir), Seen: tool.NewSeen(nil)}
	input, err := json.Marshal(map[string]any{"command": command, "timeout_seconds": int(maxShellTime.Seconds())})
	if err != nil {
		files.Close()
		return nil, nil, err
	}
	if call, err = tool.Shell().Prepare(ctx, env, tool.Call{Input: input}); err != nil {
		files.Close()
		return nil, nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	return call, func() { call.Close(); files.Close() }, nil
}

// handleShell registers the handlers of this file's requests.
func (h *Host) handleShell(t handlers) {
	inSession(t, func(ctx context.Context, at *target, r *protocol.RunShell) (protocol.Response, error) {
		return h.runShell(ctx, at.lane, at.by, r)
	})
	inSession(t, func(_ context.Context, at *target, r *protocol.StopShell) (protocol.Response, error) {
		return &protocol.Cancelled{Cancelled: at.lane.StopShell(r.EventID)}, nil
	})
}
