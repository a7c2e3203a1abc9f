package turnconfig

import (
	"cmp"
	"context"

	"scorel/internal/engine/config"
	"scorel/internal/engine/hook"
	"scorel/internal/engine/hook/exec"
	"scorel/internal/host/registry"
	"scorel/internal/host/settings"
	"scorel/internal/platform/sandbox"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// hooks returns the hooks of a session; nil when there are none. dir is where it works,
// root its project.
func (tc *Maker) hooks(id protocol.SessionID, cfg config.Config, over settings.Overrides, dir, root string) *hook.Chain {
	subscribers := append(tc.shellHooks(id, cfg, over, dir, root), tc.extensions.Subscribers(id)...)
	if len(subscribers) == 0 {
		return nil
	}
	return hook.New(func(text string) { tc.sessions.Notify(id, "warning", text) }, subscribers...)
}

// shellHooks returns the entries [[hooks]] of the configuration, of which a project's
// are there only when it is trusted.
func (tc *Maker) shellHooks(id protocol.SessionID, cfg config.Config, over settings.Overrides, dir, root string) []hook.Subscriber {
	if len(cfg.Hooks) == 0 {
		return nil
	}
	return exec.Subscribers(exec.Config{Hooks: cfg.Hooks, Session: id, Dir: dir, Root: root, Env: tc.settings.ChildEnviron(cfg),
		Spawn:   sandbox.New(sandbox.Config{RunDir: registry.RunDir(tc.settings.StoreDir, id)}),
		Mode:    func() string { return cmp.Or(tc.sessions.Mode(id), over.Mode, cfg.Permissions.Mode) },
		Changed: func(command string) (string, error) { return tc.settings.Trust.ChangedHook(root, command) },
		Log:     func(line string) { tc.log.Report(id, line, nil) },
		Tell:    func(text string) { tc.sessions.Notify(id, "info", text) }, Now: tc.settings.Now})
}

// LaneHooks returns the hooks of a session outside of turns. Extensions that do not run yet
// are started first, as for a turn: what they judge does not depend on how long a session
// has been open.
func (tc *Maker) LaneHooks(id protocol.SessionID) func(context.Context, protocol.Meta) (*hook.Chain, error) {
	return func(ctx context.Context, meta protocol.Meta) (*hook.Chain, error) {
		if err := tc.extensions.Of(id).Load(ctx); err != nil {
			return nil, err
		}
		dir, err := tc.settings.SessionDir(meta.WorkDir)
		if err != nil {
			return nil, err
		}
		root, _ := workspace.Root(dir, tc.settings.UserHome)
		cfg, err := tc.settings.Load(root)
		if err != nil {
			return nil, err
		}
		return tc.hooks(id, cfg, tc.settings.Overrides, dir, root), nil
	}
}
