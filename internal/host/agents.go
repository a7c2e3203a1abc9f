package host

import (
	"context"
	"fmt"
	"slices"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/config"
	"scorel/internal/engine/model/resolve"
	engine "scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/engine/tool"
	"scorel/internal/engine/trust"
	"scorel/internal/host/lane"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// readAgent reads the definition of an agent of a project, and says whether exactly
// these bytes are trusted.
func (h *Host) readAgent(root, name string, limit int64) (data []byte, trusted bool, err error) {
	data, trusted, _, err = h.trust.Read(root, trust.KindAgent, name, limit)
	return data, trusted, err
}

// asAgent says that a turn is one of a sub-agent; nil for any other.
type asAgent struct {
	def    *agent.Definition
	from   []tool.Tool // of the turn that it works for; nil: a person goes on with it
	deeper bool        // it may start agents itself, if its definition says so
}

// pick gives the agent's part of the tools that its session has: none that the turn
// lacks which it works for.
func (a *asAgent) pick(tools []tool.Tool) []tool.Tool {
	if a == nil {
		return tools
	}
	tools = a.def.Pick(tools, a.deeper)
	if a.from == nil {
		return tools
	}
	return slices.DeleteFunc(tools, func(t tool.Tool) bool {
		return !slices.ContainsFunc(a.from, func(other tool.Tool) bool { return other.Spec().Name == t.Spec().Name })
	})
}

// limit tightens the limits of a turn to those of the agent.
func (a *asAgent) limit(l engine.Limits) engine.Limits {
	if a != nil && a.def.MaxSteps > 0 {
		l.MaxSteps = min(l.MaxSteps, a.def.MaxSteps)
	}
	return l
}

// prompt adds to the caller's text what the agent is to know.
func (a *asAgent) prompt(text string) string {
	if a == nil {
		return text
	}
	if text != "" {
		text += "\n\n"
	}
	return text + "You are the agent " + a.def.Name + " and work for another agent. It sees nothing of what you do but your last answer: " +
		"put into that all that it needs, and nothing that only matters on the way.\n\n" + a.def.Prompt
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
		return h.setup(log.ID(), &asAgent{def: as})(ctx, meta, options)
	}
}

// listAgents gives the agents that there are in a folder, with those that do not
// count and why.
func (h *Host) listAgents(_ context.Context, workDir string) (*protocol.AgentList, error) {
	dir, err := h.lookedAt(workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, h.cfg.UserHome)
	set := h.agents(root)
	list := &protocol.AgentList{Agents: []protocol.AgentInfo{}, Problems: set.Problems}
	user, cerr := h.userConfig()
	for _, e := range set.Entries {
		if e.State == agent.OK && e.Model != "" && cerr == nil { // a broken configuration is told where it is used
			if err := h.checkAgentModel(user, &e.Definition); err != nil {
				e.State, e.Problem = agent.Broken, err.Error()
			}
		}
		info := protocol.AgentInfo{Name: e.Name, Description: e.Description, Path: e.Path, Scope: string(e.Scope), Model: e.Model,
			Mode: string(e.Mode), Tools: toolsOf(&e.Definition), State: string(e.State), Problem: e.Problem, Prompt: e.Prompt, MaxSteps: e.MaxSteps}
		list.Agents = append(list.Agents, info)
	}
	return list, nil
}

// checkAgentModel says why an agent cannot work with the model that it names, if so.
func (h *Host) checkAgentModel(user config.Config, d *agent.Definition) error {
	ref, err := h.modelOf(d)
	if err != nil || ref == "" {
		return err
	}
	if _, err := resolve.Resolve(ref, h.resolver(user)); err != nil {
		return fmt.Errorf("its model cannot be used: %s", modelProblem(err))
	}
	return nil
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

// handleAgents registers the handlers of this file's requests.
func (h *Host) handleAgents(t handlers) {
	on(t, func(ctx context.Context, _ *target, r *protocol.ListAgents) (protocol.Response, error) {
		return h.listAgents(ctx, r.WorkDir)
	})
}
