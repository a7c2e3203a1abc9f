package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed todo.md
var todoText string

type todoTool struct {
	todos Todos
}

// With implements [Needy].
func (t todoTool) With(_ Setting, s Session) Tool {
	t.todos = s.Todos
	return t
}

type todoInput struct {
	Todos []protocol.Todo `json:"todos"`
}

// todoInfo is what the tool means to others.
var todoInfo = protocol.ToolInfo{Name: "TodoWrite", Kind: protocol.ToolOwn, View: protocol.ViewTodos, Tells: protocol.TellsTodos}

// todoSchema is the JSON Schema of its input.
var todoSchema = json.RawMessage(
	`{"type":"object","properties":{"todos":{"type":"array","maxItems":100,"description":"The whole list.","items":{"type":"object","properties":{` +
		`"content":{"type":"string","minLength":1,"maxLength":1000,"description":"What is to be done."},` +
		`"status":{"type":"string","enum":["pending","in_progress","completed"]}},` +
		`"required":["content","status"],"additionalProperties":false}}},` +
		`"required":["todos"],"additionalProperties":false}`)

// Spec implements [Tool].
func (todoTool) Spec() Spec {
	return Spec{ToolInfo: todoInfo, Preset: ReadOnly, Description: todoText, Schema: todoSchema}
}

// Prepare implements [Tool].
func (t todoTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[todoInput](call)
	if err != nil {
		return nil, err
	}
	return todoCall{t, in.Todos}, nil
}

type todoCall struct {
	tool todoTool
	new  []protocol.Todo
}

// Action implements [Prepared].
func (todoCall) Action() permission.Action {
	return permission.Action{Tool: todoInfo.Name, Kind: todoInfo.Kind}
}

// Snapshots implements [Prepared].
func (todoCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (todoCall) Close() {}

// Run implements [Prepared].
func (c todoCall) Run(context.Context, func(string)) (Result, error) {
	var old []protocol.Todo
	if c.tool.todos != nil {
		old = c.tool.todos.Todos()
	}
	done := 0
	var list strings.Builder
	for _, t := range c.new {
		mark := " "
		switch t.Status {
		case "completed":
			mark = "x"
			done++
		case "in_progress":
			mark = ">"
		}
		fmt.Fprintf(&list, "\n[%s] %s", mark, t.Content)
	}
	d := protocol.ToolDetails{OldTodos: old, Todos: c.new}
	text := fmt.Sprintf("The list has %d steps, %d completed:%s", len(c.new), done, list.String())
	if done == len(c.new) {
		d.Todos = nil
		text = "The list is empty."
		if done > 0 {
			text = "All steps are completed; the list is cleared."
		}
	}
	r := textResult(text)
	r.Details = d
	return r, nil
}
