package mcpserve

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"scorel/internal/ui/plain"
	"scorel/internal/ui/questions"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Bounds of what is shown: the questions of a session, and the options of a dialog.
const (
	maxQuestions = 8
	maxOptions   = 100
)

// question is what a session waits for an answer to: a permission or a dialog.
type question struct {
	permission *protocol.PermissionRequest
	dialog     *protocol.UIRequest
}

// questionsOf returns the questions of a session, oldest first of each sort.
func questionsOf(live *protocol.Live) (out []question) {
	for i := range live.Permissions {
		p := live.Permissions[i]
		out = append(out, question{permission: &p})
	}
	for i := range live.UI {
		u := live.UI[i]
		out = append(out, question{dialog: &u})
	}
	return out
}

func (q question) id() string {
	if q.permission != nil {
		return string(q.permission.PermissionID)
	}
	return q.dialog.UIID
}

// Asked is a question as an MCP client sees it.
type Asked struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind" jsonschema:"permission, question, select, confirm, input, editor, plan, form or url"`
	Text    string   `json:"text"`
	Options []string `json:"options,omitempty"`
	Answer  string   `json:"answer" jsonschema:"what session_answer takes as its answer"`
	Schema  any      `json:"schema,omitempty" jsonschema:"of a form: the JSON Schema of the answer"`
}

// show returns a question as an MCP client sees it.
func (q question) show() Asked {
	if p := q.permission; p != nil {
		name, input := protocol.Target(p.ToolName, p.Args)
		text := "May " + display.Line(name) + " run? " + display.Summary(name, input)
		if p.Reason != "" {
			text += "\n" + p.Reason
		}
		text = clean(text, maxQuestion)
		if p.Preview != nil && p.Preview.Diff != "" {
			text += "\n" + whole(p.Preview.Diff)
		} else if all := whole(inputOf(name, input)); all != "" {
			text += "\n" + all
		}
		return Asked{ID: q.id(), Kind: "permission", Text: text, Options: []string{"allow", "deny"}, Answer: `"allow" lets this call run, and no other; "deny" does not, and reason says why`}
	}
	d := &q.dialog.Data
	a := Asked{ID: q.id(), Kind: display.Line(d.Kind)}
	text := []string{d.Title, d.Message}
	switch d.Kind {
	case protocol.DialogQuestion:
		a.Answer = "an array with an entry for each question: a label, an array of labels, or words of your own"
		for i, x := range d.Questions {
			line := fmt.Sprintf("%d. %s", i+1, x.Question)
			for _, o := range x.Options {
				line += "\n   - " + o.Label
				if o.Description != "" {
					line += ": " + o.Description
				}
			}
			if x.Multiple {
				line += "\n   (several labels can be given)"
			}
			text = append(text, line)
		}
	case protocol.DialogSelect:
		a.Answer = "one of the options"
		for _, o := range d.Options[:min(len(d.Options), maxOptions)] {
			a.Options = append(a.Options, clean(o.Label, maxStep))
		}
	case protocol.DialogConfirm:
		a.Answer = "true or false"
	case protocol.DialogPlan:
		text = append(text, d.Text)
		a.Options = []string{string(protocol.PlanApprove), string(protocol.PlanRevise)}
		a.Answer = `"approve" has the plan carried out; "revise" does not, and reason says what to change`
	case protocol.DialogForm:
		a.Answer = "an object with the fields of schema, or false to decline"
		if len(d.Schema) <= maxQuestion {
			_ = json.Unmarshal(d.Schema, &a.Schema) // without one the text remains
		}
	case protocol.DialogURL:
		text = append(text, display.Literal(d.URL))
		a.Answer = "true when a person has opened the address, false to decline"
	default:
		text = append(text, d.Text)
		a.Answer = "a text"
	}
	a.Text = clean(strings.TrimSpace(strings.Join(slices.DeleteFunc(text, func(s string) bool { return s == "" }), "\n")), maxQuestion)
	a.Answer += "; null closes it without an answer"
	return a
}

// inputOf returns the input of a call that is asked about, a member per line, "" for none.
func inputOf(tool string, input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return string(input)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var s string
		if json.Unmarshal(fields[name], &s) != nil {
			s = string(fields[name])
		}
		lines = append(lines, name+": "+display.Input(tool, name, s))
	}
	return strings.Join(lines, "\n")
}

// whole returns a text that is decided about, with every character of it; of one that is too
// long it says how much is not shown.
func whole(s string) string {
	n := len(s) - maxAsked
	if n <= 0 {
		return display.Exact(s)
	}
	return display.Exact(strings.ToValidUTF8(s[:maxAsked], "")) + "\n" + plain.More(n, "byte") + ", which a person has to look at before this is allowed"
}

// shown returns questions as an MCP client sees them, and their text.
func shown(list []question) (out []Asked) {
	for _, q := range list[:min(len(list), maxQuestions)] {
		out = append(out, q.show())
	}
	return out
}

// request returns the request that answers a question. A permission is given for one call
// and for no more, and no answer changes the mode of a session.
func (q question) request(answer any, reason string) (protocol.Request, error) {
	if p := q.permission; p != nil {
		return permit(p, answer, reason)
	}
	switch word, _ := answer.(string); {
	case q.dialog.Data.Kind != protocol.DialogPlan || answer == nil:
	case word == string(protocol.PlanApprove), word == string(protocol.PlanRevise):
		answer = protocol.PlanAnswer{Decision: protocol.PlanDecision(word), Feedback: reason}
	default:
		return nil, fmt.Errorf(`the answer to a plan is "approve" or "revise"`)
	}
	return questions.Answer(q.dialog, answer)
}

// permit returns the request that allows a call once, or denies it.
func permit(p *protocol.PermissionRequest, answer any, reason string) (protocol.Request, error) {
	switch answer {
	case "deny":
		return questions.Deny(p, reason), nil
	case "allow":
		for _, c := range questions.Choices(p) {
			if c.Once {
				return c.Request, nil
			}
		}
		return nil, fmt.Errorf("this question cannot be answered for one call alone, so a person has to answer it")
	}
	return nil, fmt.Errorf(`the answer to a permission is "allow" or "deny"`)
}
