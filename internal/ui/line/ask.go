package line

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

// asker puts open questions to the person, one at a time: permissions first, in the
// order in which they came. It is used by one goroutine.
type asker struct {
	screen  screen
	open    openQuestion
	answers protocol.Answers // of the dialog's questions so far
	lines   []string         // of a text that is typed into the dialog
	form    formAnswers
	sent    bool // the answer to an extension's dialog is on its way
	told    map[protocol.PermissionID]bool
}

// openQuestion is what is asked; at most one of the two is set. It is a copy: the lists of
// the live state move when one of them is resolved.
type openQuestion struct {
	permission *protocol.PermissionRequest
	dialog     *protocol.UIRequest
}

// takes reports whether a line would be an answer to the question.
func (q openQuestion) takes(text string) bool {
	switch {
	case q.permission != nil:
		_, _, ok := questions.Number(text)
		return ok
	case q.dialog != nil && q.dialog.Data.Kind == protocol.DialogEditor:
		return true // a text may begin with a slash
	case q.drawn():
		return strings.TrimSpace(text) == "/skip"
	case q.dialog != nil:
		_, _, isCommand := commandOf(text)
		return !isCommand || strings.TrimSpace(text) == "/skip"
	}
	return false
}

// drawn reports whether an extension draws the dialog, which takes no answer here.
func (q openQuestion) drawn() bool {
	return q.dialog != nil && q.dialog.Data.Kind == protocol.DialogCustom
}

func (q openQuestion) id() string {
	switch {
	case q.permission != nil:
		return string(q.permission.PermissionID)
	case q.dialog != nil:
		return q.dialog.UIID
	}
	return ""
}

// maxTold bounds the answers that are remembered to tell who gave them.
const maxTold = 256

// sync shows the first question that is open, when it is another one.
func (a *asker) sync(l *protocol.Live) {
	var q openQuestion
	for _, p := range l.Permissions {
		if !a.told[p.PermissionID] { // answered, and not yet resolved
			q.permission = &p
			break
		}
	}
	if q.permission == nil {
		for _, d := range l.UI {
			if d.Data.Kind == protocol.DialogQuestion || asksOne(&d.Data) {
				q.dialog = &d
				break
			}
		}
	}
	if q.id() == a.open.id() {
		return
	}
	a.open, a.answers, a.lines, a.sent = q, nil, nil, false
	a.show()
}

// again forgets an answer that the host did not take, so that sync asks once more.
func (a *asker) again(answer protocol.Request) {
	switch r := answer.(type) {
	case *protocol.AnswerPermission:
		delete(a.told, r.PermissionID)
	case *protocol.AnswerUI:
	default:
		return
	}
	a.open, a.answers, a.lines, a.sent = openQuestion{}, nil, nil, false
}

// asked returns the question that waits for the person: none when the answer is on its
// way.
func (a *asker) asked() openQuestion {
	switch {
	case a.open.permission != nil && a.told[a.open.permission.PermissionID],
		a.open.dialog != nil && asksOne(&a.open.dialog.Data) && a.sent,
		a.open.dialog != nil && !asksOne(&a.open.dialog.Data) && len(a.answers) >= len(a.open.dialog.Data.Questions):
		return openQuestion{}
	}
	return a.open
}

// show prints the question with its choices.
func (a *asker) show() {
	if a.open.id() != "" {
		a.screen.endStream()
	}
	switch {
	case a.open.permission != nil:
		p := a.open.permission
		a.screen.line(alertStyle, "? "+display.Line(p.ToolName)+" "+display.Summary(p.ToolName, p.Args)+changes(p.Preview))
		a.showAgent(p.Subagent)
		if text := wholeInput(p.ToolName, p.Args); text != "" {
			a.screen.line(plainStyle, "  "+plain.IndentRest(text))
		}
		if p.Reason != "" {
			a.screen.line(dimStyle, "  "+plain.IndentRest(display.Text(p.Reason)))
		}
		for i, c := range questions.Choices(p) {
			line := fmt.Sprintf("  %d  %s", i+1, c.Label)
			if c.Rule != "" {
				line += " [" + c.Rule + "]"
			}
			a.screen.line(plainStyle, line)
		}
		a.screen.line(plainStyle, "  0  deny (text after it tells the model why)")
	case a.open.dialog != nil && asksOne(&a.open.dialog.Data):
		a.showDialog(&a.open.dialog.Data)
	case a.open.dialog != nil:
		i := len(a.answers)
		if i >= len(a.open.dialog.Data.Questions) {
			return
		}
		q := a.open.dialog.Data.Questions[i]
		a.screen.line(alertStyle, "? "+plain.IndentRest(display.Text(q.Question)))
		a.showAgent(a.open.dialog.Data.Subagent)
		for k, o := range q.Options {
			line := fmt.Sprintf("  %d  %s", k+1, display.Line(o.Label))
			if o.Description != "" {
				line += ": " + display.Line(o.Description)
			}
			a.screen.line(plainStyle, line)
		}
		how := "a number, or words of your own; /skip leaves it open"
		if q.Multiple {
			how = "numbers with commas, or words of your own; /skip leaves it open"
		}
		a.screen.line(dimStyle, "  "+how)
	}
}

// showAgent says which sub-agent asks, if one does.
func (a *asker) showAgent(s *protocol.Subagent) {
	if s == nil {
		return
	}
	if st := agentStyle(s.Color); st != plainStyle {
		a.screen.line(st, "  ● "+display.Line(s.Agent))
	}
	what := "  asked by the agent " + display.Line(s.Agent)
	if s.Description != "" {
		what += " (" + display.Line(s.Description) + ")"
	}
	a.screen.line(dimStyle, what+", session "+string(s.SessionID))
}

// Bounds of the input that is shown in a question.
const (
	maxAskedCommand = 32 << 10 // bytes of a command
	maxAskedLines   = 40       // lines of any other field
	maxAskedLine    = 400      // characters of each
)

// wholeInput returns what the summary of a call's input leaves out, for somebody who has
// to decide about it: the whole command, and the beginning of other fields.
func wholeInput(tool string, args json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(args, &fields) != nil {
		return ""
	}
	summary := display.Summary(tool, args)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var s string
		if json.Unmarshal(fields[name], &s) != nil {
			s = string(fields[name])
		}
		switch text := strings.TrimRight(display.Input(tool, name, s), "\n"); {
		case text == summary:
		case name == "command":
			out = append([]string{wholeCommand(text)}, out...)
		default:
			out = append(out, display.Line(name)+": "+plain.IndentRest(someLines(text)))
		}
	}
	return strings.Join(out, "\n")
}

func wholeCommand(text string) string {
	n := len(text) - maxAskedCommand
	if n <= 0 {
		return text
	}
	return strings.ToValidUTF8(text[:maxAskedCommand], "") + "\n" + plain.More(n, "byte")
}

// someLines returns the beginning of a text, and says what is left out.
func someLines(text string) string {
	lines := strings.Split(text, "\n")
	if n := len(lines) - maxAskedLines; n > 0 {
		lines = append(lines[:maxAskedLines], plain.More(n, "line"))
	}
	for i, l := range lines {
		if r := []rune(l); len(r) > maxAskedLine {
			lines[i] = string(r[:maxAskedLine]) + plain.More(len(r)-maxAskedLine, "character")
		}
	}
	return strings.Join(lines, "\n")
}

// answer takes a line. handled says that it belongs to the question; then request is
// what to ask of the host, nil while more is needed.
func (a *asker) answer(text string) (request protocol.Request, handled bool) {
	switch {
	case a.open.permission != nil:
		return a.permit(text)
	case a.asked().drawn() && strings.TrimSpace(text) != "/skip":
		return nil, false
	case a.asked().dialog != nil:
		return a.reply(text), true
	}
	return nil, false
}

// permit takes a choice: a number; words may follow a 0. Anything else is a message.
func (a *asker) permit(text string) (protocol.Request, bool) {
	p := a.open.permission
	n, reason, ok := questions.Number(text)
	if !ok {
		return nil, false
	}
	if a.told[p.PermissionID] {
		a.screen.line(dimStyle, "  your answer is on its way")
		return nil, true
	}
	choices := questions.Choices(p)
	if n > len(choices) {
		a.screen.line(alertStyle, fmt.Sprintf("  there is no choice %d", n))
		return nil, true
	}
	if len(a.told) >= maxTold || a.told == nil {
		a.told = map[protocol.PermissionID]bool{}
	}
	a.told[p.PermissionID] = true
	if n == 0 {
		return questions.Deny(p, reason), true
	}
	return choices[n-1].Request, true
}

// reply takes the answer to one question of the dialog; the last one sends them all.
func (a *asker) reply(text string) protocol.Request {
	if asksOne(&a.open.dialog.Data) {
		return a.replyDialog(text)
	}
	asked := a.open.dialog.Data.Questions
	q := asked[len(a.answers)]
	answer := protocol.Answer{}
	if strings.TrimSpace(text) != "/skip" {
		var err error
		if answer, err = questions.Pick(q, text); err != nil {
			a.screen.line(alertStyle, "  "+err.Error())
			return nil
		}
	}
	a.answers = append(a.answers, answer)
	if len(a.answers) < len(asked) {
		a.show()
		return nil
	}
	value, err := json.Marshal(a.answers)
	if err != nil {
		a.screen.line(alertStyle, "  "+err.Error()) // strings always marshal
		return nil
	}
	return &protocol.AnswerUI{UIID: a.open.dialog.UIID, Value: value}
}

// changes says what a call would do to a file that is there, "" for any other.
func changes(c *protocol.ChangePreview) string {
	if c == nil || !c.Exists {
		return ""
	}
	return fmt.Sprintf(" (%d → %d lines)", c.LinesBefore, c.LinesAfter)
}
