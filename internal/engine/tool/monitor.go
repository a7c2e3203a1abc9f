package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"scorel/internal/engine/background"
	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed monitor.md
var monitorText string

type monitorTool struct {
	tasks *background.Set
}

// With implements [Needy].
func (t monitorTool) With(_ Setting, s Session) Tool {
	t.tasks = s.Tasks
	return t
}

type monitorInput struct {
	TaskID      string `json:"task_id"`
	Pattern     string `json:"pattern"`
	Description string `json:"description"`
	Stop        bool   `json:"stop"`
}

// monitorInfo is what the tool means to others.
var monitorInfo = protocol.ToolInfo{Name: "Monitor", Kind: protocol.ToolRuns, TitleField: "pattern"}

// monitorSchema is the JSON Schema of its input.
var monitorSchema = json.RawMessage(
	`{"type":"object","properties":{` + taskIDSchema + `,` +
		`"pattern":{"type":"string","minLength":1,"maxLength":500,"description":"A regular expression (RE2) for the lines to be told of."},` +
		`"description":{"type":"string","maxLength":200,"description":"What the lines mean, for the notices."},` +
		`"stop":{"type":"boolean","description":"End the monitor of this pattern, or all of the command without one."}},` +
		`"required":["task_id"],"additionalProperties":false}`)

// Spec implements [Tool].
func (monitorTool) Spec() Spec {
	return Spec{ToolInfo: monitorInfo, Deferred: true, Description: monitorText, Waits: true, Schema: monitorSchema}
}

// Prepare implements [Tool].
func (t monitorTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[monitorInput](call)
	switch {
	case err != nil:
		return nil, err
	case t.tasks == nil:
		return nil, errNoTasks
	case in.Pattern == "" && !in.Stop:
		return nil, errors.New("give a pattern to watch for, or stop")
	}
	c := monitorCall{tasks: t.tasks, in: in}
	if !in.Stop {
		if c.pattern, err = outputPattern("pattern", in.Pattern); err != nil {
			return nil, err
		}
	}
	return c, nil
}

type monitorCall struct {
	leavesFiles
	tasks   *background.Set
	in      monitorInput
	pattern *regexp.Regexp
}

// Action implements [Prepared].
func (monitorCall) Action() permission.Action {
	return permission.Action{Tool: monitorInfo.Name, Kind: monitorInfo.Kind, Own: true}
}

// Run implements [Prepared].
func (c monitorCall) Run(context.Context, func(string)) (Result, error) {
	text := ""
	if c.in.Stop {
		n, err := c.tasks.Unwatch(c.in.TaskID, c.in.Pattern)
		if err != nil {
			return Result{}, err
		}
		text = fmt.Sprintf("Monitors of %s that ended: %d.", c.in.TaskID, n)
	} else {
		already, newest, err := c.tasks.Watch(c.in.TaskID, c.pattern, c.in.Description)
		if err != nil {
			return Result{}, err
		}
		text = fmt.Sprintf("Watching %s: lines that match from now on are told before your next step.", c.in.TaskID)
		if already > 0 {
			text += fmt.Sprintf(" Of its output so far (matching lines: %d) the newest is:\n%s", already, newest)
		}
	}
	r := textResult(text)
	r.Details = protocol.ToolDetails{TaskID: c.in.TaskID}
	return r, nil
}
