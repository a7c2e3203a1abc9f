package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scorel/protocol"
)

//go:embed executeextra.md
var executeExtraText string

const executeExtraName = "ExecuteExtraTool"

// executeExtraTool calls tools that the model is not sent. It implements [Redirecting].
type executeExtraTool struct {
	extras  *Extras
	setting Setting
	session Session
}

// With implements [Needy].
func (t executeExtraTool) With(g Setting, s Session) Tool {
	return executeExtraTool{g.Extras, g, s}
}

type executeExtraInput struct {
	Name   string          `json:"tool_name"`
	Params json.RawMessage `json:"params"`
}

// executeExtraInfo is what the tool means to others.
var executeExtraInfo = protocol.ToolInfo{Name: executeExtraName, Kind: protocol.ToolOwn, TitleField: "tool_name", TargetField: "tool_name", ParamsField: "params"}

// executeExtraSchema is the JSON Schema of its input.
var executeExtraSchema = json.RawMessage(
	`{"type":"object","properties":{` +
		`"tool_name":{"type":"string","minLength":1,"maxLength":128,"description":"The whole name, as in mcp__server__tool."},` +
		`"params":{"type":"object","description":"The input of that tool."}},` +
		`"required":["tool_name","params"],"additionalProperties":false}`)

// Spec implements [Tool].
func (executeExtraTool) Spec() Spec {
	return Spec{ToolInfo: executeExtraInfo, Needs: NeedsExtras, Preset: ReadOnly, Description: executeExtraText, Schema: executeExtraSchema}
}

// Behind implements [Redirecting].
func (t executeExtraTool) Behind(name string) Tool { return t.bound(t.extras.Named(name)) }

// bound returns a tool what it needs; nil stays nil.
func (t executeExtraTool) bound(target Tool) Tool {
	if target == nil {
		return nil
	}
	return Bind([]Tool{target}, t.setting, t.session)[0]
}

// Target implements [Redirecting].
func (t executeExtraTool) Target(ctx context.Context, input json.RawMessage) (Tool, json.RawMessage, error) {
	in, err := decode[executeExtraInput](Call{Input: input})
	if err != nil {
		return nil, nil, err
	}
	if target := t.bound(t.extras.await(ctx, in.Name)); target != nil {
		return target, in.Params, nil
	}
	switch {
	case in.Name == executeExtraName:
		return nil, nil, fmt.Errorf("%s cannot call itself; give the name of another tool", executeExtraName)
	case t.extras != nil && slices.Contains(t.extras.Direct, in.Name):
		return nil, nil, fmt.Errorf("you have the tool %s: call it directly, not with %s", in.Name, executeExtraName)
	}
	text := fmt.Sprintf("There is no tool %q that can be used here; find the right name with %s.", in.Name, searchExtraName)
	if t.extras != nil && t.extras.Servers != nil {
		if pending := t.extras.Servers.Pending(); len(pending) > 0 {
			text += " Still being connected with: " + strings.Join(pending, ", ") + "."
		}
	}
	return nil, nil, errors.New(text)
}

// Prepare implements [Tool]. A call is redirected before, so this is a fault of who runs it.
func (executeExtraTool) Prepare(context.Context, Call) (Prepared, error) {
	return nil, fmt.Errorf("%s runs nothing itself; this is a fault of Scorel", executeExtraName)
}
