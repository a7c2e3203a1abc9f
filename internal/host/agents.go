package host

import (
	"context"

	"scorel/internal/agent"
	"scorel/internal/host/lane"
	"scorel/internal/session"
	"scorel/internal/trust"
	"scorel/internal/workspace"
	"scorel/protocol"
)

// readAgent reads the definition of an agent of a project, and says whether exactly
// these bytes are trusted.
func (h *Host) readAgent(root, name string, limit int64) (data []byte, trusted bool, err error) {
	data, trusted, _, err = h.trust.Read(root, trust.KindAgent, name, limit)
	return data, trusted, err
}

// setupOf gives what makes the turns of a session ready: of a sub-agent's with its
// agent, as its file is then.
func (h *Host) setupOf(log *session.Log) func(context.Context, protocol.Meta, *protocol.TurnOptions) (*lane.Setup, error) {
	p := log.Index().Header().Parent
	if p == nil {
		return h.setup(log.ID(), nil)
	}
	return func(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (*lane.Setup, error) {
		dir, err := h.workDir(meta.WorkDir)
		if err != nil {
			return nil, err
		}
		root, _ := workspace.Root(dir, h.cfg.UserHome)
		as, err := h.agents(root).Named(p.Agent)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s. Clone the session to go on without its agent.", sentence(err))
		}
		return h.setup(log.ID(), as)(ctx, meta, options)
	}
}

// listAgents gives the agents that there are in a folder, with those that do not
// count and why.
func (h *Host) listAgents(_ context.Context, workDir string) (*protocol.AgentList, error) {
	dir, err := h.workDir(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	set := h.agents(root)
	list := &protocol.AgentList{Agents: []protocol.AgentInfo{}, Problems: set.Problems}
	for _, e := range set.Entries {
		info := protocol.AgentInfo{Name: e.Name, Description: e.Description, Path: e.Path, Scope: string(e.Scope), Model: e.Model,
			Mode: string(e.Mode), Tools: toolsOf(&e.Definition), State: string(e.State), Problem: e.Problem, Prompt: e.Prompt, MaxSteps: e.MaxSteps}
		list.Agents = append(list.Agents, info)
	}
	return list, nil
}

// toolsOf gives the tools of a definition as its file has them: a preset, a list, and
// with a minus what is denied.
func toolsOf(d *agent.Definition) []string {
	out := append([]string(nil), d.Tools...)
	if d.Preset != "" {
		out = append(out, d.Preset)
	}
	for _, name := range d.Deny {
		out = append(out, "-"+name)
	}
	return out
}
