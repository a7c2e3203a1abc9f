package admin

import (
	"context"
	"fmt"
	"strings"

	"scorel/internal/engine/agent"
	"scorel/internal/engine/config"
	"scorel/internal/engine/model/resolve"
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/internal/platform/workspace"
	"scorel/protocol"
)

// listAgents returns the agents that there are in the folder of a session, or in workDir,
// with those that do not count and why.
func (ad *Admin) listAgents(ctx context.Context, id protocol.SessionID, workDir string) (*protocol.AgentList, error) {
	dir, err := ad.folderOf(ctx, id, workDir)
	if err != nil {
		return nil, err
	}
	root, _ := workspace.Root(dir, ad.settings.UserHome)
	set := ad.settings.Agents(root)
	list := &protocol.AgentList{Agents: []protocol.AgentInfo{}, Problems: set.Problems}
	user, cerr := ad.settings.User()
	for _, e := range set.Entries {
		if e.State == agent.OK && e.Model != "" && cerr == nil { // a broken configuration is told where it is used
			if err := ad.checkAgentModel(user, &e.Definition); err != nil {
				e.State, e.Problem = agent.Broken, err.Error()
			} else if note := ad.settings.AgentModelNote(&e.Definition); note != "" {
				e.Problem = strings.TrimPrefix(e.Problem+"; "+note, "; ")
			}
		}
		info := protocol.AgentInfo{Name: e.Name, Description: e.Description, Path: e.Path, Scope: string(e.Scope), Model: e.Model,
			Mode: string(e.Mode), Tools: toolsOf(&e.Definition), State: string(e.State), Problem: e.Problem, Prompt: e.Prompt, MaxSteps: e.MaxSteps,
			Color: e.Color, Effort: string(e.Effort), Background: e.Background, Skills: e.Skills, Initial: e.Initial, Hooks: len(e.Hooks)}
		list.Agents = append(list.Agents, info)
	}
	return list, nil
}

// checkAgentModel returns why an agent cannot work with the model that it names, if so.
func (ad *Admin) checkAgentModel(user config.Config, d *agent.Definition) error {
	ref, err := ad.settings.AgentModel(d)
	if err != nil || ref == "" {
		return err
	}
	if _, err := resolve.Resolve(ref, ad.settings.Resolver(user)); err != nil {
		return fmt.Errorf("its model cannot be used: %s", failure.ModelProblem(err))
	}
	return nil
}

// toolsOf returns the tools of a definition as its file has them: a preset, a list, and
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

// handleAgents enters the handlers of this file's requests.
func (ad *Admin) handleAgents(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.ListAgents) (protocol.Response, error) {
		return ad.listAgents(ctx, at.Call.SessionID, r.WorkDir)
	})
}
