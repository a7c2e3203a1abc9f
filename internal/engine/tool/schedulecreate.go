package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed schedulecreate.md
var scheduleCreateText string

// errNoSchedules is what the tools of schedules say where none can be.
var errNoSchedules = errors.New("schedules belong to a host that stays and to the session of a person; this is none")

type scheduleCreateTool struct {
	schedules Schedules
}

// With implements [Needy].
func (t scheduleCreateTool) With(_ Setting, s Session) Tool {
	t.schedules = s.Schedules
	return t
}

type scheduleCreateInput struct {
	When   string `json:"when"`
	Prompt string `json:"prompt"`
	Name   string `json:"name"`
	Zone   string `json:"zone"`
	Target string `json:"target"`
}

// scheduleCreateInfo is what the tool means to others.
var scheduleCreateInfo = protocol.ToolInfo{Name: "ScheduleCreate", Kind: protocol.ToolOwn, TitleField: "when"}

// scheduleCreateSchema is the JSON Schema of its input.
var scheduleCreateSchema = json.RawMessage(
	`{"type":"object","properties":{"when":{"type":"string","minLength":1,"maxLength":200},"prompt":{"type":"string","minLength":1,"maxLength":16000},` +
		`"name":{"type":"string","maxLength":100},"zone":{"type":"string","maxLength":100},"target":{"type":"string","enum":["session","fresh","kept"]}},` +
		`"required":["when","prompt"],"additionalProperties":false}`)

// Spec implements [Tool].
func (scheduleCreateTool) Spec() Spec {
	return Spec{ToolInfo: scheduleCreateInfo, Needs: NeedsSchedules, Deferred: true, Description: scheduleCreateText, Waits: true, Schema: scheduleCreateSchema}
}

// Prepare implements [Tool].
func (t scheduleCreateTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[scheduleCreateInput](call)
	switch {
	case err != nil:
		return nil, err
	case t.schedules == nil:
		return nil, errNoSchedules
	}
	return scheduleCreateCall{schedules: t.schedules, id: call.ID, in: in}, nil
}

type scheduleCreateCall struct {
	leavesFiles
	schedules Schedules
	id        string
	in        scheduleCreateInput
}

// Action implements [Prepared].
func (scheduleCreateCall) Action() permission.Action {
	return permission.Action{Tool: scheduleCreateInfo.Name, Kind: scheduleCreateInfo.Kind}
}

// Run implements [Prepared].
func (c scheduleCreateCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	s, err := c.schedules.Arm(ctx, c.id, protocol.CreateSchedule{Name: c.in.Name, When: c.in.When, Zone: c.in.Zone, Prompt: c.in.Prompt, Target: c.in.Target})
	switch {
	case err != nil:
		return Result{}, err
	case s == nil:
		return textResult("The person does not want this schedule. Do not propose it again unless they ask."), nil
	}
	return textResult(fmt.Sprintf("The person agreed: %s is armed (%s).", s.ScheduleID, s.Words)), nil
}
