package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/protocol"
)

//go:embed askuser.md
var askUserText string

type askTool struct {
	people People
}

// With implements [Needy].
func (t askTool) With(_ Setting, s Session) Tool {
	t.people = s.People
	return t
}

type askInput struct {
	Questions []protocol.Question `json:"questions"`
}

// askInfo is what the tool means to others.
var askInfo = protocol.ToolInfo{Name: "AskUser", Aliases: []string{"AskUserQuestion"}, Kind: protocol.ToolOwn, View: protocol.ViewQuestions}

// askSchema is the JSON Schema of its input.
var askSchema = json.RawMessage(
	`{"type":"object","properties":{"questions":{"type":"array","minItems":1,"maxItems":4,"items":{"type":"object","properties":{` +
		`"question":{"type":"string","minLength":1,"maxLength":2000,"description":"The whole question, with what is needed to decide."},` +
		`"header":{"type":"string","maxLength":30,"description":"Two or three words for it."},` +
		`"options":{"type":"array","minItems":2,"maxItems":6,"items":{"type":"object","properties":{` +
		`"label":{"type":"string","minLength":1,"maxLength":100,"description":"The answer, in a few words."},` +
		`"description":{"type":"string","maxLength":500,"description":"What it means."}},` +
		`"required":["label"],"additionalProperties":false}},` +
		`"multiple":{"type":"boolean","description":"Several options may be picked."}},` +
		`"required":["question","options"],"additionalProperties":false}}},` +
		`"required":["questions"],"additionalProperties":false}`)

// Spec implements [Tool].
func (askTool) Spec() Spec {
	return Spec{ToolInfo: askInfo, Preset: ReadOnly, Description: askUserText, Waits: true, Schema: askSchema}
}

// Prepare implements [Tool].
func (t askTool) Prepare(_ context.Context, call Call) (Prepared, error) {
	in, err := decode[askInput](call)
	if err != nil {
		return nil, err
	}
	if t.people == nil {
		return nil, errors.New("there is nobody to ask here; decide yourself and say what you assumed")
	}
	for _, q := range in.Questions {
		var labels []string
		for _, o := range q.Options {
			if slices.Contains(labels, o.Label) {
				return nil, fmt.Errorf("two options of %q have the label %q; give each its own", q.Question, o.Label)
			}
			labels = append(labels, o.Label)
		}
	}
	return askCall{tool: t, id: call.ID, questions: in.Questions}, nil
}

type askCall struct {
	tool      askTool
	id        string
	questions []protocol.Question
}

// Action implements [Prepared].
func (askCall) Action() permission.Action {
	return permission.Action{Tool: askInfo.Name, Kind: askInfo.Kind}
}

// Snapshots implements [Prepared].
func (askCall) Snapshots(context.Context) ([]Snapshot, error) { return nil, nil }

// Close implements [Prepared].
func (askCall) Close() {}

// Run implements [Prepared].
func (c askCall) Run(ctx context.Context, _ func(string)) (Result, error) {
	answers, err := c.tool.people.Ask(ctx, c.id, c.questions)
	if err != nil {
		return Result{}, err
	}
	var d protocol.ToolDetails
	var text strings.Builder
	if answers == nil {
		text.WriteString("The person closed the questions without an answer. Do not ask the same again; go on with what is sensible, or say what you need.\n")
	}
	for i, q := range c.questions {
		a := protocol.AskedQuestion{Question: q.Question}
		if answers != nil {
			a.Picked, a.Words = divide(q, answers[i])
		}
		d.Asked = append(d.Asked, a)
		fmt.Fprintf(&text, "Question: %s\n", q.Question)
		for _, p := range a.Picked {
			fmt.Fprintf(&text, "Answer: %s\n", p)
		}
		for _, w := range a.Words {
			fmt.Fprintf(&text, "Answer in own words: %s\n", w)
		}
		if len(a.Picked)+len(a.Words) == 0 {
			text.WriteString("Left open.\n")
		}
	}
	r := textResult(strings.TrimSuffix(text.String(), "\n"))
	r.Details = d
	return r, nil
}

// divide tells the labels in an answer from words; blank parts are none.
func divide(q protocol.Question, answer protocol.Answer) (picked, words []string) {
	for _, part := range answer {
		switch {
		case strings.TrimSpace(part) == "":
		case slices.ContainsFunc(q.Options, func(o protocol.Option) bool { return o.Label == part }):
			if !slices.Contains(picked, part) {
				picked = append(picked, part)
			}
		default:
			words = append(words, part)
		}
	}
	return picked, words
}
