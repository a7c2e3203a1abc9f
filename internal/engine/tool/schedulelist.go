package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"scorel/internal/engine/permission"
	"scorel/internal/text/promptsafe"
	"scorel/protocol"
)

//go:embed schedulelist.md
var scheduleListText string

// maxListedSchedules is how many schedules a model is told of.
const maxListedSchedules = 50

type scheduleListTool struct {
	schedules Schedules
}

// With implements [Needy].
func (t scheduleListTool) With(_ Setting, s Session) Tool {
	t.schedules = s.Schedules
	return t
}

// scheduleListInfo is what the tool means to others.
var scheduleListInfo = protocol.ToolInfo{Name: "ScheduleList", Kind: protocol.ToolOwn}

// scheduleListSchema is the JSON Schema of its input.
var scheduleListSchema = json.RawMessage(
	`{"type":"object","properties":{},"additionalProperties":false}`)

// Spec implements [Tool].
func (scheduleListTool) Spec() Spec {
	return Spec{ToolInfo: scheduleListInfo, Needs: NeedsSchedules, Preset: ReadOnly, Deferred: true, Description: scheduleListText, Schema: scheduleListSchema}
}

// Prepare implements [Tool].
func (t scheduleListTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	if _, err := decode[struct{}](call); err != nil {
		return nil, err
	}
	if t.schedules == nil {
		return nil, errNoSchedules
	}
	return scheduleListCall{schedules: t.schedules}, nil
}

type scheduleListCall struct {
	leavesFiles
	schedules Schedules
}

// Action implements [Prepared].
func (scheduleListCall) Action() permission.Action {
	return permission.Action{Tool: scheduleListInfo.Name, Kind: permission.State}
}

// Run implements [Prepared].
func (c scheduleListCall) Run(context.Context, func(string)) (Result, error) {
	list, err := c.schedules.Schedules()
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 {
		return textResult("There are no schedules."), nil
	}
	var b strings.Builder
	for i, s := range list {
		if i == maxListedSchedules {
			fmt.Fprintf(&b, "%d more are left out.\n", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "%s %s, %s", s.ScheduleID, s.State, s.Words)
		if s.NextAt > 0 {
			b.WriteString(", next " + time.UnixMilli(s.NextAt).Format(time.RFC3339))
		}
		if s.LastRun != nil {
			fmt.Fprintf(&b, ", last run %s", s.LastRun.State)
		}
		fmt.Fprintf(&b, ": %s\n", promptsafe.Clean(strings.Join(strings.Fields(s.Name+" "+s.Prompt), " ")))
	}
	return textResult(strings.TrimRight(b.String(), "\n")), nil
}
