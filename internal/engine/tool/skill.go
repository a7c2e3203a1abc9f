package tool

import (
	"context"
	_ "embed"
	"encoding/json"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed skill.md
var skillText string

type skillTool struct{}

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
func (skillTool) Prepare(_ context.Context, env *Env, call Call) (Prepared, error) {
	in, err := decode[skillInput](call)
	if err != nil {
		return nil, err
	}
	return skillCall{env, in}, nil
}

type skillCall struct {
	env *Env
	in  skillInput
}

// Action implements [Prepared].
func (c skillCall) Action() permission.Action {
	return permission.Action{Tool: skillInfo.Name, Kind: skillInfo.Kind, Name: c.in.Name}
}

// Snapshots implements [Prepared].
func (skillCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (skillCall) Close() {}

// Run implements [Prepared].
func (c skillCall) Run(context.Context, func(string)) (Result, error) {
	text, err := c.env.Skills.Text(c.in.Name, c.in.Args)
	if err != nil {
		return Result{}, err
	}
	return textResult(text), nil
}
