package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed exitplanmode.md
var exitPlanModeText string

// ExitPlanModeName is the tool with which a model presents its plan.
const ExitPlanModeName = "ExitPlanMode"

// WithPlan returns tools with ExitPlanMode among them, for a turn in plan mode; the list
// that it is given stays as it is.
func WithPlan(tools []Tool) []Tool {
	if slices.ContainsFunc(tools, func(t Tool) bool { return t.Spec().Name == ExitPlanModeName }) {
		return tools
	}
	tools = append(slices.Clone(tools), exitPlanTool{})
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return tools
}

// PlanVerdict is what people said of a plan. Over says that plan mode had ended before
// they were asked. Mode is the permission mode that holds now. A zero Answer closes the
// plan without a word.
type PlanVerdict struct {
	Over   bool
	Answer protocol.PlanAnswer
	Mode   string
}

type exitPlanTool struct {
	people People
}

// With implements [Needy].
func (t exitPlanTool) With(_ Setting, s Session) Tool {
	t.people = s.People
	return t
}

type exitPlanInput struct {
	Plan string `json:"plan"`
}

// exitPlanInfo is what the tool means to others.
var exitPlanInfo = protocol.ToolInfo{Name: "ExitPlanMode", Kind: protocol.ToolOwn, View: protocol.ViewPlan}

// exitPlanSchema is the JSON Schema of its input.
var exitPlanSchema = json.RawMessage(
	`{"type":"object","properties":{"plan":{"type":"string","minLength":1,"maxLength":60000,"description":"The whole plan, in Markdown."}},` +
		`"required":["plan"],"additionalProperties":false}`)

// Spec implements [Tool].
func (exitPlanTool) Spec() Spec {
	return Spec{ToolInfo: exitPlanInfo, Needs: NeedsPlan, Description: exitPlanModeText, Waits: true, Schema: exitPlanSchema}
}

// Prepare implements [Tool].
func (t exitPlanTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[exitPlanInput](call)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Plan) == "":
		return nil, errors.New("the plan is empty")
	case t.people == nil:
		return nil, errors.New("there is nobody here who could approve a plan; answer with it")
	}
	return exitPlanCall{tool: t, id: call.ID, plan: in.Plan}, nil
}

type exitPlanCall struct {
	tool     exitPlanTool
	id, plan string
}

// Action implements [Prepared].
func (exitPlanCall) Action() permission.Action {
	return permission.Action{Tool: exitPlanInfo.Name, Kind: exitPlanInfo.Kind}
}

// Snapshots implements [Prepared].
func (exitPlanCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (exitPlanCall) Close() {}

// Run implements [Prepared].
func (c exitPlanCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	v, err := c.tool.people.Plan(ctx, c.id, c.plan)
	if err != nil {
		return Result{}, err
	}
	text := ""
	switch {
	case v.Over:
		text = fmt.Sprintf("Plan mode is over already; the permission mode is %s. Carry the plan out.", v.Mode)
	case v.Answer.Decision == protocol.PlanApprove, v.Answer.Decision == protocol.PlanAcceptEdits:
		text = fmt.Sprintf("The person approved the plan. Plan mode is over; the permission mode is %s. Carry the plan out now.", v.Mode)
	case v.Answer.Decision == protocol.PlanRevise:
		text = "The person does not approve the plan yet. Plan mode goes on: read what you need, and present a plan that does what they say."
	default:
		text = "The person closed the plan without a decision. Plan mode goes on. Do not present the same plan again; ask what they want, or end your turn."
	}
	if words := strings.TrimSpace(v.Answer.Feedback); words != "" {
		text += "\nThe person says: " + words
	}
	r := textResult(text)
	r.Details = protocol.ToolDetails{Plan: &protocol.PlanResult{Decision: v.Answer.Decision, Mode: v.Mode, Feedback: v.Answer.Feedback}}
	return r, nil
}
