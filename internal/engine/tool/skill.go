package tool

import (
	"context"
	_ "embed"
	"encoding/json"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/skill"
	"scorel/protocol"
)

//go:embed skill.md
var skillText string

type skillTool struct {
	skills *skill.Set
	agents Agents
}

// With implements [Needy].
func (t skillTool) With(g Setting, s Session) Tool {
	t.skills, t.agents = g.Skills, s.Agents
	return t
}

type skillInput struct {
	Name string `json:"name"`
	Args string `json:"args"`
}

// skillInfo is what the tool means to others.
var skillInfo = protocol.ToolInfo{Name: "Skill", Kind: protocol.ToolOwn, View: protocol.ViewSkill, TitleField: "name", Rule: protocol.RuleSkill}

// Spec implements [Tool].
func (skillTool) Spec() Spec {
	return Spec{ToolInfo: skillInfo, Needs: NeedsSkills, Preset: ReadOnly, Description: skillText, Parallel: true, Schema: json.RawMessage(
		`{"type":"object","properties":{` +
			`"name":{"type":"string","minLength":1,"maxLength":64,"description":"The name of the skill."},` +
			`"args":{"type":"string","maxLength":10000,"description":"What it is to work on, as its text says; mostly nothing."}},` +
			`"required":["name"],"additionalProperties":false}`)}
}

// Prepare implements [Tool].
func (t skillTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[skillInput](call)
	if err != nil {
		return nil, err
	}
	return skillCall{t, call, in}, nil
}

type skillCall struct {
	tool skillTool
	call Call
	in   skillInput
}

// Action implements [Prepared].
func (c skillCall) Action() permission.Action {
	return permission.Action{Tool: skillInfo.Name, Kind: skillInfo.Kind, Name: c.in.Name}
}

// Snapshots implements [Prepared].
func (skillCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (skillCall) Close() {}

// Run implements [Prepared]. Where the skill is to have a context of its own, and agents
// can be started, the result is that of an agent that works with its text.
func (c skillCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	text, err := c.tool.skills.Text(c.in.Name, c.in.Args)
	if err != nil {
		return Result{}, err
	}
	agent, forks := c.tool.skills.Fork(c.in.Name)
	if !forks || c.tool.agents == nil {
		return textResult(text), nil
	}
	return c.tool.agents.RunAgent(ctx, AgentCall{CallID: c.call.ID, Agent: agent, Description: "the skill " + c.in.Name,
		Prompt: "Do what the skill " + c.in.Name + " says, and answer with its result.\n\n" + text, Process: c.call.Process})
}
