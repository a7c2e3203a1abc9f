package protocol

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/protocol/form"
)

// The kinds of dialogs. In a question a model asks people, and a plan is what it wants
// to do; the others are of an extension or a server.
const (
	DialogQuestion = "question" // the answer is [Answers]
	DialogSelect   = "select"   // one of Options; the answer is its label
	DialogConfirm  = "confirm"  // yes or no; the answer is a boolean
	DialogInput    = "input"    // one line; the answer is a string
	DialogEditor   = "editor"   // several lines; the answer is a string
	DialogPlan     = "plan"     // Text is a plan in Markdown; the answer is a [PlanAnswer]
	DialogForm     = "form"     // the answer is an object with the fields of Schema; false declines
	DialogURL      = "url"      // the person opens URL; the answer is true when they did, false declines
	DialogCustom   = "custom"   // an extension draws it ([UIFrame]) and ends it; a person can close it
)

// Bounds of an answer to a dialog.
const (
	MaxAnswer      = 4 << 10   // bytes of one label or text
	MaxEdited      = 256 << 10 // bytes of the text of an editor
	MaxURL         = 2048      // bytes of the address of a dialog
	maxAnswerParts = 8         // labels and texts of one question
	maxOptions     = 1000      // of a dialog to select from
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
	Message     string     `json:"message,omitempty"`     // of confirm, form and url
	Options     []Option   `json:"options,omitempty"`     // of select
	Placeholder string     `json:"placeholder,omitempty"` // of input
	Text        string     `json:"text,omitempty"`        // of editor: what is in it; of plan: the plan
	// Schema is a JSON Schema of the fields of a form, of which [form.Fields] says what it may be.
	Schema json.RawMessage `json:"schema,omitempty"`
	URL    string          `json:"url,omitempty"` // of url: http or https
	// Control says of confirm that yes does what a request does that needs [GrantControl], and so
	// needs that, too.
	Control bool `json:"control,omitempty"`
	// Owner is who has the component of a custom dialog on the screen, nil while nobody has:
	// anybody may take it ([TakeUI]), also from another. When it changes, the ui_request
	// comes again.
	Owner *UIOwner `json:"owner,omitempty"`
}

// PlanDecision returns what becomes of a plan.
type PlanDecision string

// The decisions. The first two end the mode plan, and so need [GrantControl].
const (
	PlanApprove     PlanDecision = "approve"     // it is carried out, in the mode from before
	PlanAcceptEdits PlanDecision = "acceptEdits" // it is carried out, and edits are accepted
	PlanRevise      PlanDecision = "revise"      // the model goes on planning
)

// PlanAnswer is the value of answer_ui for a dialog of kind plan. Feedback, at most 4
// KiB, is told to the model.
type PlanAnswer struct {
	Decision PlanDecision `json:"decision"`
	Feedback string       `json:"feedback,omitempty"`
}

// check says in one sentence why it is no answer.
func (a PlanAnswer) check() error {
	switch a.Decision {
	case PlanApprove, PlanAcceptEdits, PlanRevise:
	default:
		return Errorf(CodeInvalidRequest, "The decision about a plan is %.40q; it can be approve, acceptEdits or revise.", string(a.Decision))
	}
	if len(a.Feedback) > MaxAnswer || !utf8.ValidString(a.Feedback) {
		return Errorf(CodeInvalidRequest, "What is said of a plan is not text of at most %d bytes.", MaxAnswer)
	}
	return nil
}

// NeedsControl reports whether a value, which fits the dialog, needs [GrantControl]: it approves
// a plan, or says yes to what is of lasting effect.
func (d *Dialog) NeedsControl(value json.RawMessage) bool {
	switch d.Kind {
	case DialogPlan:
		var a PlanAnswer
		return json.Unmarshal(value, &a) == nil && (a.Decision == PlanApprove || a.Decision == PlanAcceptEdits)
	case DialogConfirm:
		var yes bool
		return d.Control && json.Unmarshal(value, &yes) == nil && yes
	}
	return false
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
				return Errorf(CodeInvalidRequest, "An answer to question %d is not text of at most %d bytes.", i+1, MaxAnswer)
			}
		}
	}
	return nil
}

// Check says in one sentence why a value is no answer to the dialog. Null answers any
// dialog: it closes it.
func (d *Dialog) Check(value json.RawMessage) error {
	if string(value) == "null" {
		return nil
	}
	var text string
	switch d.Kind {
	case DialogQuestion:
		var answers Answers
		if json.Unmarshal(value, &answers) != nil {
			return Errorf(CodeInvalidRequest, "The value of the answer is a list with an entry for each question: a label, words, or a list of them; or null.")
		}
		return answers.Check(d.Questions)
	case DialogConfirm:
		var yes bool
		if json.Unmarshal(value, &yes) != nil {
			return Errorf(CodeInvalidRequest, "The value of the answer is true or false; or null.")
		}
	case DialogSelect:
		if json.Unmarshal(value, &text) != nil || !slices.ContainsFunc(d.Options, func(o Option) bool { return o.Label == text }) {
			return Errorf(CodeInvalidRequest, "The value of the answer is the label of one of the options; or null.")
		}
	case DialogPlan:
		var answer PlanAnswer
		if json.Unmarshal(value, &answer) != nil {
			return Errorf(CodeInvalidRequest, "The value of the answer has a decision, and may have feedback; or it is null.")
		}
		return answer.check()
	case DialogInput:
		if json.Unmarshal(value, &text) != nil || len(text) > MaxAnswer || strings.ContainsAny(text, "\r\n") {
			return Errorf(CodeInvalidRequest, "The value of the answer is one line of at most %d bytes; or null.", MaxAnswer)
		}
	case DialogEditor:
		if json.Unmarshal(value, &text) != nil || len(text) > MaxEdited {
			return Errorf(CodeInvalidRequest, "The value of the answer is a text of at most %d bytes; or null.", MaxEdited)
		}
	case DialogForm:
		if string(value) != "false" {
			return d.checkForm(value)
		}
	case DialogURL:
		if s := string(value); s != "true" && s != "false" {
			return Errorf(CodeInvalidRequest, "The value of the answer is true when the address was opened, else false; or null.")
		}
	case DialogCustom:
		return Errorf(CodeInvalidRequest, "What an extension draws takes keys (ui_input) and no answer; null closes it.")
	default:
		return Errorf(CodeInvalidRequest, "The host asks in a way that this version does not know (%.40q); answer with null.", d.Kind)
	}
	return nil
}

// CheckAsked says in one sentence why a dialog of an extension cannot be shown.
func (d *Dialog) CheckAsked() error {
	switch d.Kind {
	case DialogSelect:
		if len(d.Options) == 0 || len(d.Options) > maxOptions {
			return Errorf(CodeInvalidRequest, "A dialog to select from has 1 to %d options.", maxOptions)
		}
	case DialogForm:
		if _, err := form.Fields(d.Schema); err != nil {
			return Errorf(CodeInvalidRequest, "The form cannot be shown: %v.", err)
		}
	case DialogURL:
		if err := checkURL(d.URL); err != nil {
			return err
		}
	case DialogConfirm, DialogInput, DialogEditor, DialogCustom:
	default:
		return Errorf(CodeInvalidRequest, "There is no dialog of kind %.40q; it can be select, confirm, input, editor, form, url or custom.", d.Kind)
	}
	size := len(d.Title) + len(d.Message) + len(d.Placeholder) + len(d.Text)
	for _, o := range d.Options {
		size += len(o.Label) + len(o.Description)
	}
	if size > MaxEdited {
		return Errorf(CodeInvalidRequest, "A dialog has at most %d bytes of text.", MaxEdited)
	}
	return nil
}

// Requests that answer what a person is asked.
type (
	// AnswerPermission answers a permission_request: Choice is the index of an
	// offered suggestion, -1 denies.
	AnswerPermission struct {
		PermissionID PermissionID `json:"permissionId" check:"required,max=MaxWord"`
		Choice       int          `json:"choice"`
		Reason       string       `json:"reason,omitempty" check:"max=MaxAnswer"`
	}
	// AnswerUI answers a ui_request. For a dialog of kind question Value is
	// [Answers]; null closes the dialog without an answer.
	AnswerUI struct {
		UIID  string          `json:"uiId" check:"required,max=MaxWord"`
		Value json.RawMessage `json:"value"`
	}
)

var (
	answerPermissionSpec = Spec{
		Name: "answer_permission", Scope: ScopeSession, Grant: GrantAnswer, Mutates: true, Urgent: true,
		Method: "POST", Path: "/v1/sessions/{sessionId}/permissions/{permissionId}",
		New: func() Request { return new(AnswerPermission) }, Reply: func() Response { return new(Done) },
	}
	answerUISpec = Spec{
		Name: "answer_ui", Scope: ScopeSession, Grant: GrantAnswer, Mutates: true, Urgent: true,
		New: func() Request { return new(AnswerUI) }, Reply: func() Response { return new(Done) },
	}
)

// Check returns what of the request cannot be carried out; see [Call.Check].
func (r *AnswerPermission) Check() *Problem {
	p := r.checkFields()
	if p == nil && r.Choice < -1 {
		p = &Problem{"choice", fmt.Sprintf("The field choice is %d; it is the index of an offered suggestion, from 0 on, or -1 to deny.", r.Choice)}
	}
	return p
}
func (r *AnswerUI) Check() *Problem {
	if len(r.Value) == 0 {
		return missing("value")
	}
	return r.checkFields()
}

// checkForm returns why a value is no answer to a form: an object with the values of its
// fields, of which those that are not required may be missing.
func (d *Dialog) checkForm(value json.RawMessage) error {
	fields, err := form.Fields(d.Schema)
	if err != nil {
		return Errorf(CodeInvalidRequest, "The form cannot be read (%v); answer with null.", err)
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(value, &given) != nil || given == nil || len(value) > MaxEdited {
		return Errorf(CodeInvalidRequest, "The value of the answer is an object with the fields of the form; or false, or null.")
	}
	for _, f := range fields {
		v, ok := given[f.Name]
		delete(given, f.Name)
		switch {
		case !ok && f.Required:
			return About("value."+f.Name, "", CodeInvalidRequest, "The form needs the field %s.", clip(f.Name))
		case !ok:
			continue
		}
		if err := f.Check(v); err != nil {
			return About("value."+f.Name, "", CodeInvalidRequest, "The answer does not fit: %v.", err)
		}
	}
	for name := range given {
		return Errorf(CodeInvalidRequest, "The form has no field %.40q.", name)
	}
	return nil
}

// checkURL says in one sentence why people cannot be asked to open an address.
func checkURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || len(address) > MaxURL || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || line("url", address) != nil {
		return Errorf(CodeInvalidRequest, "The address to open is an http or https URL of at most %d bytes, without a name and password.", MaxURL)
	}
	return nil
}
