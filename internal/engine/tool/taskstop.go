package tool

import (
	"context"
	_ "embed"
	"encoding/json"

	"scorel/internal/engine/background"
	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed taskstop.md
var taskStopText string

type taskStopTool struct {
	tasks *background.Set
}

// With implements [Needy].
func (t taskStopTool) With(_ Setting, s Session) Tool {
	t.tasks = s.Tasks
	return t
}

type taskStopInput struct {
	TaskID string `json:"task_id"`
}

// taskStopInfo is what the tool means to others.
var taskStopInfo = protocol.ToolInfo{Name: "TaskStop", Kind: protocol.ToolRuns, TitleField: "task_id"}

// taskStopSchema is the JSON Schema of its input.
var taskStopSchema = json.RawMessage(
	`{"type":"object","properties":{` + taskIDSchema + `},"required":["task_id"],"additionalProperties":false}`)

// Spec implements [Tool].
func (taskStopTool) Spec() Spec {
	return Spec{ToolInfo: taskStopInfo, Description: taskStopText, Finishes: true, Schema: taskStopSchema}
}

// Prepare implements [Tool].
func (t taskStopTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[taskStopInput](call)
	if err != nil {
		return nil, err
	}
	if t.tasks == nil {
		return nil, errNoTasks
	}
	return taskStopCall{tasks: t.tasks, id: in.TaskID}, nil
}

type taskStopCall struct {
	leavesFiles
	tasks *background.Set
	id    string
}

// Action implements [Prepared].
func (taskStopCall) Action() permission.Action {
	return permission.Action{Tool: taskStopInfo.Name, Kind: taskStopInfo.Kind, Own: true}
}

// Run implements [Prepared].
func (c taskStopCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	stopped, err := c.tasks.Stop(ctx, c.id, background.ToModel)
	if err != nil {
		return Result{}, err
	}
	text := c.id + " " + stopped.How + "."
	if stopped.Already {
		text = "There was nothing to stop: " + text
	}
	r := textResult(text)
	r.Details, r.Process = protocol.ToolDetails{TaskID: c.id, ExitCode: stopped.Info.ExitCode}, stopped.Process
	return r, nil
}
