package questions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"scorel/protocol"
)

// PlanChoice is an answer to a plan.
type PlanChoice struct {
	Key      string // the letter that picks it
	Label    string
	Decision protocol.PlanDecision
}

// PlanChoices returns the answers to a plan. The last one, to revise it, may say how.
func PlanChoices() []PlanChoice {
	return []PlanChoice{
		{"y", "Yes, carry it out", protocol.PlanApprove},
		{"e", "Yes, and auto-accept edits", protocol.PlanAcceptEdits},
		{"n", "No, keep planning", protocol.PlanRevise},
	}
}

// Plan reads the answer to a plan: y, e or n, and any other words keep planning.
func Plan(text string) protocol.PlanAnswer {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return protocol.PlanAnswer{Decision: protocol.PlanApprove}
	case "e", "edits":
		return protocol.PlanAnswer{Decision: protocol.PlanAcceptEdits}
	case "n", "no":
		return protocol.PlanAnswer{Decision: protocol.PlanRevise}
	}
	return protocol.PlanAnswer{Decision: protocol.PlanRevise, Feedback: text}
}

// YesNo reads y or n.
func YesNo(text string) (yes, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return true, true
	case "n", "no":
		return false, true
	}
	return false, false
}

// Option reads the choice of one option: its label, or its number from 1.
func Option(options []protocol.Option, text string) (label string, err error) {
	text = strings.TrimSpace(text)
	for _, o := range options { // a label may be a number too
		if o.Label == text {
			return o.Label, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(options) {
		return "", fmt.Errorf("there is no choice %.100q", text)
	}
	return options[n-1].Label, nil
}

// Pick reads the answer to a question of the model: numbers of options with commas
// between, or words.
func Pick(q protocol.Question, text string) (protocol.Answer, error) {
	text = strings.TrimSpace(text)
	if len(text) > protocol.MaxAnswer {
		return nil, fmt.Errorf("an answer has at most %d bytes", protocol.MaxAnswer)
	}
	var out protocol.Answer
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return protocol.Answer{text}, nil
		}
		if n < 1 || n > len(q.Options) {
			return nil, fmt.Errorf("there is no choice %d", n)
		}
		if label := q.Options[n-1].Label; !slices.Contains(out, label) {
			out = append(out, label)
		}
	}
	if len(out) > 1 && !q.Multiple {
		return nil, fmt.Errorf("this question takes one answer")
	}
	return out, nil
}

// Answer returns the request that answers a dialog with a value, and an error when the
// value does not fit it. nil closes the dialog without an answer.
func Answer(u *protocol.UIRequest, value any) (*protocol.AnswerUI, error) {
	data, err := json.Marshal(value)
	if err == nil {
		err = u.Data.Check(data)
	}
	if err != nil {
		return nil, err
	}
	return &protocol.AnswerUI{UIID: u.UIID, Value: data}, nil
}
