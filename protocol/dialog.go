package protocol

import (
	"encoding/json"
	"io"
	"unicode/utf8"
)

// The kinds of dialogs. In a question a model asks people; the others are of an
// extension.
const (
	DialogQuestion = "question" // the answer is [Answers]
	DialogSelect   = "select"   // one of Options; the answer is its label
	DialogConfirm  = "confirm"  // yes or no; the answer is a boolean
	DialogInput    = "input"    // one line; the answer is a string
	DialogEditor   = "editor"   // several lines; the answer is a string
)

// Bounds of an answer to a dialog.
const (
	MaxAnswer      = 4 << 10 // bytes of one label or text
	maxAnswerParts = 8       // labels and texts of one question
)

// Dialog is what a ui_request asks. ToolCallID is the call that waits for it, and
// Source the extension that asks. Null closes any dialog without an answer. With
// Subagent it is a sub-agent of the session that asks, and ToolCallID the call of Task
// that it works for.
type Dialog struct {
	Kind        string     `json:"kind"`
	ToolCallID  string     `json:"toolCallId,omitempty"`
	Source      string     `json:"source,omitempty"`
	Subagent    *Subagent  `json:"subagent,omitempty"`
	Questions   []Question `json:"questions,omitempty"`   // of kind question
	Title       string     `json:"title,omitempty"`       // of the others
	Message     string     `json:"message,omitempty"`     // of confirm
	Options     []Option   `json:"options,omitempty"`     // of select
	Placeholder string     `json:"placeholder,omitempty"` // of input
	Text        string     `json:"text,omitempty"`        // of editor: what stands in it
}

// Question is one question to people. Multiple says that several options may be
// picked. Words of one's own are an answer to any question.
type Question struct {
	Question string   `json:"question"`
	Header   string   `json:"header,omitempty"` // two or three words for a narrow place
	Options  []Option `json:"options"`
	Multiple bool     `json:"multiple,omitempty"`
}

// Option is an answer that a question offers.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Answers is the value of answer_ui for a dialog of kind question: an entry for
// each question, in order. A nil list closes the dialog without an answer.
type Answers []Answer

// Answer is the labels that were picked and the words that were typed; what is
// not a label counts as words. An empty one leaves its question open. In JSON one
// part may stand without a list around it.
type Answer []string

// UnmarshalJSON reads a list of strings, one string, or null.
func (a *Answer) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = nil
		if one != "" {
			*a = Answer{one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

// NewUIID draws the id of a dialog, "ui_" and 16 characters.
func NewUIID(rand io.Reader) string { return randomID("ui_", rand, 10) }

// Check says in one sentence why answers do not fit the questions of a dialog.
func (a Answers) Check(questions []Question) error {
	if a == nil {
		return nil
	}
	if len(a) != len(questions) {
		return Errorf(CodeInvalidRequest, "The dialog asks %d questions and the answer has %d entries; give one for each.", len(questions), len(a))
	}
	for i, answer := range a {
		if len(answer) > 1 && !questions[i].Multiple {
			return Errorf(CodeInvalidRequest, "Question %d takes one answer, and %d were given.", i+1, len(answer))
		}
		if len(answer) > maxAnswerParts {
			return Errorf(CodeInvalidRequest, "Question %d takes at most %d answers.", i+1, maxAnswerParts)
		}
		for _, part := range answer {
			if len(part) > MaxAnswer || !utf8.ValidString(part) {
				return Errorf(CodeInvalidRequest, "An answer to question %d is no text of at most %d bytes.", i+1, MaxAnswer)
			}
		}
	}
	return nil
}
