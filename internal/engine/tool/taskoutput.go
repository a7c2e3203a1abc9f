package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"regexp/syntax"
	"time"

	"scorel/internal/engine/background"
	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed taskoutput.md
var taskOutputText string

// taskIDSchema is the schema of the id of a background command.
const taskIDSchema = `"task_id":{"type":"string","minLength":1,"maxLength":40,"description":"The id that Bash gave."}`

// Bounds of a regular expression for output. Lines are matched while the command
// waits to print more, and each byte costs as many steps as the automaton has.
const (
	maxPattern     = 500  // characters
	maxPatternSize = 1000 // steps of the automaton; 25 ms for the longest line that a monitor looks at
)

type taskOutputTool struct {
	tasks *background.Set
}

// With implements [Needy].
func (t taskOutputTool) With(_ Setting, s Session) Tool {
	t.tasks = s.Tasks
	return t
}

type taskOutputInput struct {
	TaskID string `json:"task_id"`
	Wait   int    `json:"wait_seconds"`
	Offset *int64 `json:"offset"`
	Filter string `json:"filter"`
}

// taskOutputInfo is what the tool means to others.
var taskOutputInfo = protocol.ToolInfo{Name: "TaskOutput", Kind: protocol.ToolRuns, TitleField: "task_id"}

// taskOutputSchema is the JSON Schema of its input.
var taskOutputSchema = json.RawMessage(
	`{"type":"object","properties":{` + taskIDSchema + `,` +
		`"wait_seconds":{"type":"integer","minimum":0,"maximum":600,"description":"How long to wait for new output or the end; 0 without it."},` +
		`"offset":{"type":"integer","minimum":0,"description":"Read from this byte on instead of where the last reading ended."},` +
		`"filter":{"type":"string","minLength":1,"maxLength":500,"description":"A regular expression (RE2): only lines that match."}},` +
		`"required":["task_id"],"additionalProperties":false}`)

// Spec implements [Tool].
func (taskOutputTool) Spec() Spec {
	return Spec{ToolInfo: taskOutputInfo, Description: taskOutputText, Waits: true, Schema: taskOutputSchema}
}

// Prepare implements [Tool].
func (t taskOutputTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[taskOutputInput](call)
	if err != nil {
		return nil, err
	}
	if t.tasks == nil {
		return nil, errNoTasks
	}
	c := taskOutputCall{tasks: t.tasks, id: in.TaskID, query: background.Query{Wait: time.Duration(in.Wait) * time.Second, Offset: in.Offset}}
	if in.Filter != "" {
		if c.query.Filter, err = outputPattern("filter", in.Filter); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// outputPattern compiles a regular expression for lines of output.
func outputPattern(name, text string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("the %s has %d bytes, at most %d can be used; give a shorter one", name, len(text), maxPattern)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the %s is not a regular expression (RE2): %w", name, err)
	}
	if prog, err := syntax.Compile(tree.Simplify()); err != nil || len(prog.Inst) > maxPatternSize {
		return nil, fmt.Errorf("the %s is too large, because its repetitions are written out; repeat less often than a hundred times, or use * and +", name)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("the %s is not a regular expression (RE2): %w", name, err)
	}
	return re, nil
}

type taskOutputCall struct {
	leavesFiles
	tasks *background.Set
	id    string
	query background.Query
}

// leavesFiles is what calls have in common that write no files and hold nothing open.
type leavesFiles struct{}

// Snapshots implements [Prepared].
func (leavesFiles) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (leavesFiles) Close() {}

// Action implements [Prepared]. Reading output is possible in every mode.
func (taskOutputCall) Action() permission.Action {
	return permission.Action{Tool: taskOutputInfo.Name, Kind: permission.State} // it only looks
}

// Run implements [Prepared].
func (c taskOutputCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	begun := time.Now()
	r, err := c.tasks.Read(ctx, c.id, c.query)
	if err != nil {
		return Result{}, err
	}
	notes := []string{standing(r, time.Now())}
	if c.query.Filter != nil {
		notes = append(notes, fmt.Sprintf("matching lines: %d, others: %d", r.Matching, r.Other))
	}
	if r.Woken != "" {
		notes = append(notes, fmt.Sprintf("waited %s: %s", time.Since(begun).Round(100*time.Millisecond), r.Woken))
	}
	notes = append(notes, fmt.Sprintf("%d bytes printed so far", r.Info.Bytes))
	if r.Cut {
		notes = append(notes, fmt.Sprintf("go on with offset %d", r.Next))
	}
	return taskResult(r, "no new output", notes), nil
}
