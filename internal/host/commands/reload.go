package commands

import (
	"context"

	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// reload looks for the extensions of a session again and starts them again.
func (cs *Commands) reload(ctx context.Context, l *lane.Lane) (*protocol.Reloaded, error) {
	out := &protocol.Reloaded{}
	x := cs.extensions.Of(l.ID())
	if x == nil {
		return out, nil
	}
	loaded, problems, err := x.Reload(ctx)
	out.Extensions, out.Problems = loaded, problems
	if c, cerr := cs.commandsOf(l, lane.Caller{}, ""); err == nil && cerr == nil {
		out.Commands = len(c.registry().List(ctx).Commands)
		agents := cs.settings.Agents(c.root)
		out.Agents = len(agents.Usable())
		out.Problems = append(out.Problems, agents.Problems...)
		if cfg, cerr := cs.settings.Load(c.root); cerr == nil {
			out.Hooks = len(cfg.Hooks)
		} else {
			out.Problems = append(out.Problems, failure.Sentence(cerr)+".")
		}
		found := cs.turns.FindSkills(ctx, c.dir, c.root)
		out.Skills = len(found.Counting())
		out.Problems = append(out.Problems, found.Problems...)
	}
	return out, err
}

// handleReload enters the handlers of this file's requests.
func (cs *Commands) handleReload(t request.Table) {
	request.InSession(t, func(ctx context.Context, at *request.Target, _ *protocol.Reload) (protocol.Response, error) {
		return cs.reload(ctx, at.Lane)
	})
}
