package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed sleep.md
var sleepText string

// maxSleep is the longest call of Sleep, in seconds.
const maxSleep = 3600

// WithSleep returns tools with Sleep among them, for a turn of a session in which proactive mode
// is on; the list that it is given stays as it is.
func WithSleep(tools []Tool) []Tool {
	if slices.ContainsFunc(tools, func(t Tool) bool { return t.Spec().Name == sleepInfo.Name }) {
		return tools
	}
	tools = append(slices.Clone(tools), sleepTool{})
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return tools
}

type sleepTool struct {
	sleeper Sleeper
}

// With implements [Needy].
func (t sleepTool) With(_ Setting, s Session) Tool {
	t.sleeper = s.Sleeper
	return t
}

type sleepInput struct {
	Seconds int `json:"seconds"`
}

// sleepInfo is what the tool means to others.
var sleepInfo = protocol.ToolInfo{Name: "Sleep", Kind: protocol.ToolOwn, View: protocol.ViewText, TitleField: "seconds"}

// sleepSchema is the JSON Schema of its input.
var sleepSchema = json.RawMessage(
	`{"type":"object","properties":{"seconds":{"type":"integer","minimum":1,"maximum":3600,"description":"How long to wait."}},` +
		`"required":["seconds"],"additionalProperties":false}`)

// Spec implements [Tool].
func (sleepTool) Spec() Spec {
	return Spec{ToolInfo: sleepInfo, Needs: NeedsProactive, Description: sleepText, Waits: true, Schema: sleepSchema}
}

// Prepare implements [Tool].
func (t sleepTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[sleepInput](call)
	switch {
	case err != nil:
		return nil, err
	case in.Seconds < 1 || in.Seconds > maxSleep:
		return nil, fmt.Errorf("seconds is %d; it can be 1 to %d", in.Seconds, maxSleep)
	case t.sleeper == nil:
		return nil, errors.New("proactive mode is off, so nothing sleeps here; end your turn instead")
	}
	return sleepCall{sleeper: t.sleeper, d: time.Duration(in.Seconds) * time.Second}, nil
}

type sleepCall struct {
	leavesFiles
	sleeper Sleeper
	d       time.Duration
}

// Action implements [Prepared].
func (sleepCall) Action() permission.Action {
	return permission.Action{Tool: sleepInfo.Name, Kind: permission.State}
}

// Run implements [Prepared].
func (c sleepCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	slept, why, err := c.sleeper.Sleep(ctx, c.d)
	switch {
	case ctx.Err() != nil:
		return Result{}, errors.New("the sleep ended with the turn")
	case err != nil:
		return Result{}, err
	case why == "":
		return textResult(fmt.Sprintf("You have slept for %v.", c.d)), nil
	}
	return textResult(fmt.Sprintf("The sleep ended after %v of %v: %s.", slept.Round(time.Second), c.d, why)), nil
}
