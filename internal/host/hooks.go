package host

import (
	"cmp"
	"context"

	"scorel/internal/engine/config"
	"scorel/internal/engine/hook"
	"scorel/internal/engine/hook/exec"
	"scorel/internal/host/lane"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// hooks gives the hooks of a session; nil when there are none. dir is where it works,
// root its project.
func (h *Host) hooks(id protocol.SessionID, cfg config.Config, over Overrides, dir, root string) *hook.Chain {
	subscribers := append(h.shellHooks(id, cfg, over, dir, root), h.extensionSubscribers(id)...)
	if len(subscribers) == 0 {
		return nil
	}
	return hook.New(func(text string) { h.notify(id, "warning", text) }, subscribers...)
}

// shellHooks gives the entries [[hooks]] of the configuration, of which a project's
// are there only when it is trusted.
func (h *Host) shellHooks(id protocol.SessionID, cfg config.Config, over Overrides, dir, root string) []hook.Subscriber {
	if len(cfg.Hooks) == 0 {
		return nil
	}
	return exec.Subscribers(exec.Config{Hooks: cfg.Hooks, Session: id, Dir: dir, Root: root, Env: h.childEnviron(cfg),
		Spawn:   sandbox.New(sandbox.Config{RunDir: h.runDir(id)}),
		Mode:    func() string { return cmp.Or(h.modeOf(id), over.Mode, cfg.Permissions.Mode) },
		Changed: func(command string) (string, error) { return h.trust.ChangedHook(root, command) },
		Log:     func(line string) { h.report(id, line, nil) }, Now: h.cfg.Now})
}

// laneHooks gives the hooks of a session outside of turns.
func (h *Host) laneHooks(id protocol.SessionID) func(context.Context, protocol.Meta) (*hook.Chain, error) {
	return func(_ context.Context, meta protocol.Meta) (*hook.Chain, error) {
		dir, err := h.workDir(meta.WorkDir)
		if err != nil {
			return nil, err
		}
		root, _ := workspace.Root(dir, h.cfg.UserHome)
		cfg, err := h.loadConfig(root)
		if err != nil {
			return nil, err
		}
		return h.hooks(id, cfg, h.cfg.Overrides, dir, root), nil
	}
}

// open gives the lane of a session that is open, nil for another. It waits for nobody.
func (h *Host) open(id protocol.SessionID) *lane.Lane {
	h.mu.Lock()
	s := h.lanes[id]
	h.mu.Unlock()
	if s == nil || !s.opened() {
		return nil
	}
	return s.lane
}

// notify shows the people of a session a sentence of the host's, and, of a sub-agent's,
// those of the sessions above it: most watch only these.
func (h *Host) notify(id protocol.SessionID, level, text string) {
	for range maxAgentDepth + 1 {
		l := h.open(id)
		if l == nil {
			return
		}
		l.Notify("", level, text)
		p := l.Log().Index().Header().Parent
		if p == nil {
			return
		}
		id, text = p.SessionID, "the agent "+p.Agent+": "+text
	}
}

// modeOf gives the permission mode that people have set in a session, "" for none.
func (h *Host) modeOf(id protocol.SessionID) string {
	if l := h.open(id); l != nil {
		return string(l.Mode())
	}
	return ""
}
