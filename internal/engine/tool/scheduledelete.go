package tool

import (
	"context"
	_ "embed"
	"encoding/json"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed scheduledelete.md
var scheduleDeleteText string

type scheduleDeleteTool struct {
	schedules Schedules
}

// With implements [Needy].
func (t scheduleDeleteTool) With(_ Setting, s Session) Tool {
	t.schedules = s.Schedules
	return t
}

type scheduleDeleteInput struct {
	ScheduleID protocol.ScheduleID `json:"schedule_id"`
}

// scheduleDeleteInfo is what the tool means to others.
var scheduleDeleteInfo = protocol.ToolInfo{Name: "ScheduleDelete", Kind: protocol.ToolRuns, TitleField: "schedule_id"}

// scheduleDeleteSchema is the JSON Schema of its input.
var scheduleDeleteSchema = json.RawMessage(
	`{"type":"object","properties":{"schedule_id":{"type":"string","minLength":1,"maxLength":64}},"required":["schedule_id"],"additionalProperties":false}`)

// Spec implements [Tool].
func (scheduleDeleteTool) Spec() Spec {
	return Spec{ToolInfo: scheduleDeleteInfo, Needs: NeedsSchedules, Deferred: true, Description: scheduleDeleteText, Schema: scheduleDeleteSchema}
}

// Prepare implements [Tool].
func (t scheduleDeleteTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[scheduleDeleteInput](call)
	switch {
	case err != nil:
		return nil, err
	case t.schedules == nil:
		return nil, errNoSchedules
	}
	return scheduleDeleteCall{schedules: t.schedules, id: in.ScheduleID}, nil
}

type scheduleDeleteCall struct {
	leavesFiles
	schedules Schedules
	id        protocol.ScheduleID
}

// Action implements [Prepared]. Deleting is asked for: the schedule may be anybody's.
func (scheduleDeleteCall) Action() permission.Action {
	return permission.Action{Tool: scheduleDeleteInfo.Name, Kind: scheduleDeleteInfo.Kind}
}

// Run implements [Prepared].
func (c scheduleDeleteCall) Run(context.Context, func(string)) (Result, error) {
	if err := c.schedules.Disarm(c.id); err != nil {
		return Result{}, err
	}
	return textResult(string(c.id) + " is deleted."), nil
}
