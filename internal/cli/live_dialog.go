package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"scorel/protocol"
)

// questionsOf gives a dialog as questions, one of them for what is no list of
// questions. A dialog of a kind that this version does not know has none.
func questionsOf(d protocol.Dialog) []protocol.Question {
	text := strings.TrimSpace(d.Title + "\n" + d.Message)
	if d.Source != "" {
		text = d.Source + ": " + text
	}
	switch d.Kind {
	case protocol.DialogQuestion:
		return d.Questions
	case protocol.DialogConfirm:
		return []protocol.Question{{Question: text, Options: []protocol.Option{{Label: "Yes"}, {Label: "No"}}}}
	case protocol.DialogSelect:
		return []protocol.Question{{Question: text, Options: d.Options}}
	case protocol.DialogInput, protocol.DialogEditor:
		for _, more := range []string{d.Placeholder, d.Text} {
			if more != "" {
				text += "\n" + more
			}
		}
		return []protocol.Question{{Question: text}}
	}
	return nil
}

// valueOf gives the answers as the value that the dialog takes; a question that was
// left open closes a dialog that has just one.
func valueOf(d protocol.Dialog, answers protocol.Answers) (json.RawMessage, error) {
	if d.Kind == protocol.DialogQuestion {
		return json.Marshal(answers)
	}
	if len(answers[0]) == 0 {
		return json.RawMessage("null"), nil
	}
	text := strings.Join(answers[0], ", ")
	switch d.Kind {
	case protocol.DialogConfirm:
		switch strings.ToLower(text) {
		case "yes", "y":
			return json.RawMessage("true"), nil
		case "no", "n":
			return json.RawMessage("false"), nil
		}
		return nil, fmt.Errorf("it is 1 or yes, 2 or no, or /skip")
	case protocol.DialogSelect:
		if !slices.ContainsFunc(d.Options, func(o protocol.Option) bool { return o.Label == text }) {
			return nil, fmt.Errorf("choose one of the numbers, or /skip")
		}
	}
	return json.Marshal(text)
}
