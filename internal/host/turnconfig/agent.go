package turnconfig

import (
	"context"
	"slices"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/config"
	"scorel/internal/engine/mcp/connect"
	"scorel/internal/engine/model"
	engine "scorel/internal/engine/runtime"
	"scorel/internal/engine/session"
	"scorel/internal/engine/tool"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// Agent says that a turn is one of a sub-agent; nil for any other.
type Agent struct {
	Def    *agent.Definition
	From   []tool.Tool // of the turn that it works for; nil: a person goes on with it
	Deeper bool        // it may start agents itself, if its definition says so
}

// pick returns the agent's part of the tools that its session has: none that the turn
// lacks which it works for.
func (a *Agent) pick(tools []tool.Tool) []tool.Tool {
	if a == nil {
		return tools
	}
	tools = a.Def.Pick(tools, a.Deeper)
	if a.From == nil {
		return tools
	}
	return slices.DeleteFunc(tools, func(t tool.Tool) bool {
		if served, ok := t.(tool.Served); ok && a.names(served.Server()) {
			return false
		}
		return !slices.ContainsFunc(a.From, func(other tool.Tool) bool { return other.Spec().Name == t.Spec().Name })
	})
}

// names reports whether the agent's definition names a server, as rules do.
func (a *Agent) names(server string) bool {
	return slices.ContainsFunc(a.Def.Servers.Named, func(name string) bool { return connect.PlainName(name) == server })
}

// EndAgent ends what a sub-agent's session uses, when it has done its work: after the turn of
// a person who goes on with it, where one begins.
func (tc *Maker) EndAgent(id protocol.SessionID) { tc.servers.CloseIdle(id) }

// thinking returns how much the agent thinks, where its definition says so.
func (a *Agent) thinking(level model.ThinkingLevel) model.ThinkingLevel {
	if a != nil && a.Def.Effort != "" {
		return a.Def.Effort
	}
	return level
}

// hooks adds those of the agent to those of the configuration.
func (a *Agent) hooks(configured []config.Hook) []config.Hook {
	if a == nil || len(a.Def.Hooks) == 0 {
		return configured
	}
	return slices.Concat(configured, a.Def.Hooks)
}

// limit tightens the limits of a turn to those of the agent.
func (a *Agent) limit(l engine.Limits) engine.Limits {
	if a != nil && a.Def.MaxSteps > 0 {
		l.MaxSteps = min(l.MaxSteps, a.Def.MaxSteps)
	}
	return l
}

// prompt adds to the caller's text what the agent is to know.
func (a *Agent) prompt(text string) string {
	if a == nil {
		return text
	}
	if text != "" {
		text += "\n\n"
	}
	return text + "You are the agent " + a.Def.Name + " and work for another agent. It sees nothing of what you do but your last answer: " +
		"put into that all that it needs, and nothing that only matters on the way.\n\n" + a.Def.Prompt
}

// Of returns what makes the turns of a session ready: of a sub-agent's with its
// agent, as its file is then.
func (tc *Maker) Of(log *session.Log) Make {
	p := log.Index().Header().Parent
	if p == nil {
		return tc.For(log.ID(), nil)
	}
	return func(ctx context.Context, meta protocol.Meta, options *protocol.TurnOptions) (*lane.TurnConfig, error) {
		dir, err := tc.settings.SessionDir(meta.WorkDir)
		if err != nil {
			return nil, err
		}
		root, _ := workspace.Root(dir, tc.settings.UserHome)
		as, err := tc.settings.Agents(root).Named(p.Agent)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "%s. Clone the session to continue without its agent.", failure.Sentence(err))
		}
		return tc.For(log.ID(), &Agent{Def: as})(ctx, meta, options)
	}
}

// choices returns the agents that Task offers.
func choices(set *agent.Set) (out []tool.AgentChoice) {
	for _, d := range set.Usable() {
		out = append(out, tool.AgentChoice{Name: d.Name, Description: d.Description, Color: d.Color})
	}
	return out
}
