package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/skill"
	"scorel/protocol"
)

//go:embed skill.md
var skillText string

type skillTool struct {
	skills  *skill.Set
	prompts Prompts
	agents  Agents
}

// With implements [Needy].
func (t skillTool) With(g Setting, s Session) Tool {
	t.skills, t.prompts, t.agents = g.Skills, g.Prompts, s.Agents
	return t
}

type skillInput struct {
	Name string `json:"name"`
	Args string `json:"args"`
}

// skillInfo is what the tool means to others.
var skillInfo = protocol.ToolInfo{Name: "Skill", Kind: protocol.ToolOwn, View: protocol.ViewSkill, TitleField: "name", Rule: protocol.RuleSkill}

// skillSchema is the JSON Schema of its input.
var skillSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"name":{"type":"string","minLength":1,"maxLength":64,"description":"The name of the skill."},` +
		`"args":{"type":"string","maxLength":10000,"description":"What it is to work on, as its text says; mostly nothing."}},` +
		`"required":["name"],"additionalProperties":false}`)

// Spec implements [Tool].
func (skillTool) Spec() Spec {
	return Spec{ToolInfo: skillInfo, Needs: NeedsSkills, Preset: ReadOnly, Description: skillText, Parallel: true, Schema: skillSchema}
}

// Prepare implements [Tool].
func (t skillTool) Prepare(ctx context.Context, call Call) (Prepared, error) {
	in, err := decode[skillInput](call)
	if err != nil {
		return nil, err
	}
	if t.prompts != nil && strings.HasPrefix(in.Name, serverPrefix) && !t.skills.Has(in.Name) {
		p, err := t.prompts.Find(ctx, in.Name, in.Args)
		if err != nil {
			return nil, err
		}
		return promptCall{p, call, in.Name}, nil
	}
	return skillCall{t, call, in}, nil
}

// serverPrefix begins the names of what MCP servers have.
const serverPrefix = "mcp__"

// promptCall asks a server for a prompt. It implements [Labelled].
type promptCall struct {
	prompt Prompt
	call   Call
	name   string
}

// PromptAction is what a call does that uses a prompt of an MCP server as a skill: it is judged
// like a call of a tool of that server. Server is as rules name it.
func PromptAction(name, server string) permission.Action {
	return permission.Action{Tool: skillInfo.Name, Kind: permission.Exec, Name: name, Server: server}
}

// Label implements [Labelled].
func (c promptCall) Label() string { return c.prompt.Label }

// Action implements [Prepared].
func (c promptCall) Action() permission.Action { return PromptAction(c.name, c.prompt.Server) }

// Snapshots implements [Prepared].
func (promptCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (promptCall) Close() {}

// Run implements [Prepared].
func (c promptCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	return c.prompt.Fill(ctx, c.call.ID)
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
