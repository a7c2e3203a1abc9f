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

//go:embed appenddaily.md
var appendDailyText string

type appendDailyTool struct {
	notes Notes
}

// With implements [Needy].
func (t appendDailyTool) With(g Setting, _ Session) Tool {
	t.notes = g.Notes
	return t
}

type appendDailyInput struct {
	Text string `json:"text"`
}

// appendDailyInfo is what the tool means to others.
var appendDailyInfo = protocol.ToolInfo{Name: "AppendDaily", Kind: protocol.ToolOwn}

// appendDailySchema is the JSON Schema of its input.
var appendDailySchema = json.RawMessage(
	`{"type":"object","properties":{"text":{"type":"string","minLength":1,"maxLength":8192,"description":"The note, in a few lines."}},` +
		`"required":["text"],"additionalProperties":false}`)

// Spec implements [Tool].
func (appendDailyTool) Spec() Spec {
	return Spec{ToolInfo: appendDailyInfo, Needs: NeedsNotes, Deferred: true, Description: appendDailyText, Finishes: true, Schema: appendDailySchema}
}

// Prepare implements [Tool].
func (t appendDailyTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[appendDailyInput](call)
	if err != nil {
		return nil, err
	}
	if t.notes == nil {
		return nil, errors.New("notes are switched off here; tell the user what should be kept")
	}
	return appendDailyCall{t, in.Text}, nil
}

type appendDailyCall struct {
	tool appendDailyTool
	text string
}

// Action implements [Prepared].
func (appendDailyCall) Action() permission.Action {
	return permission.Action{Tool: appendDailyInfo.Name, Kind: appendDailyInfo.Kind}
}

// Snapshots implements [Prepared].
func (appendDailyCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (appendDailyCall) Close() {}

// Run implements [Prepared].
func (c appendDailyCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	where, err := c.tool.notes.Note(ctx, c.text)
	if err != nil {
		return Result{}, err
	}
	return textResult(fmt.Sprintf("The note is kept in %s.", where)), nil
}
