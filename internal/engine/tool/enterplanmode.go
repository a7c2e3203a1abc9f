package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed enterplanmode.md
var enterPlanModeText string

// PlanProposal is what people said of the proposal to plan.
type PlanProposal struct {
	On       bool // plan mode was on already; nobody was asked
	Accepted bool // plan mode is on now
}

type enterPlanTool struct {
	people People
}

// With implements [Needy].
func (t enterPlanTool) With(_ Setting, s Session) Tool {
	t.people = s.People
	return t
}

type enterPlanInput struct {
	Reason string `json:"reason"`
}

// enterPlanInfo is what the tool means to others.
var enterPlanInfo = protocol.ToolInfo{Name: "EnterPlanMode", Kind: protocol.ToolOwn, View: protocol.ViewText, TitleField: "reason"}

// enterPlanSchema is the JSON Schema of its input.
var enterPlanSchema = json.RawMessage(
	`{"type":"object","properties":{"reason":{"type":"string","minLength":1,"maxLength":2000,"description":"Why a plan is of use here, for the person."}},` +
		`"required":["reason"],"additionalProperties":false}`)

// Spec implements [Tool]. The tool is in every turn of a session, also in plan mode: another
// list of tools would cost the model's cache.
func (enterPlanTool) Spec() Spec {
	return Spec{ToolInfo: enterPlanInfo, Description: enterPlanModeText, Waits: true, Schema: enterPlanSchema}
}

// Prepare implements [Tool].
func (t enterPlanTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[enterPlanInput](call)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Reason) == "":
		return nil, errors.New("the reason is empty")
	case t.people == nil:
		return nil, errors.New("there is nobody here who could be asked; go on without a plan")
	}
	return enterPlanCall{tool: t, id: call.ID, reason: in.Reason}, nil
}

type enterPlanCall struct {
	tool       enterPlanTool
	id, reason string
}

// Action implements [Prepared].
func (enterPlanCall) Action() permission.Action {
	return permission.Action{Tool: enterPlanInfo.Name, Kind: enterPlanInfo.Kind}
}

// Snapshots implements [Prepared].
func (enterPlanCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (enterPlanCall) Close() {}

// Run implements [Prepared].
func (c enterPlanCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	p, err := c.tool.people.EnterPlan(ctx, c.id, c.reason)
	if err != nil {
		return Result{}, err
	}
	var r Result
	switch {
	case p.On:
		r = shownResult(protocol.ToolDetails{}, "", "Plan mode is on already.", " Read what you need and present your plan.")
	case p.Accepted:
		r = shownResult(protocol.ToolDetails{}, "", "The person agreed: plan mode is on.", " Read what you need, then end this turn with the whole plan as your answer: what changes where, in which order, and how you will check it. In later turns of plan mode present it with ExitPlanMode.")
	default:
		r = shownResult(protocol.ToolDetails{}, "", "The person wants no plan.", " Go on without one, and do not propose it again for this work.")
	}
	return r, nil
}
