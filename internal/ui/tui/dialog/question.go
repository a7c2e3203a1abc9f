package dialog

import (
	"encoding/json"
	"fmt"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Question is what the model asks: one or several questions, of which one is seen at a
// time. After the last one all answers are seen once more when there are several.
type Question struct {
	steps
	data  protocol.Dialog
	pages []page
}

// page is one question with what is answered so far.
type page struct {
	choices
	q      protocol.Question
	picked []bool // of the options
	own    field.Field
	done   bool
}

// ownWords is the answer in words of one's own, which is the last one of every question.
func (p *page) ownWords() bool { return p.on == len(p.q.Options) }

// NewQuestion makes the dialog of a question.
func NewQuestion(req protocol.UIRequest) *Question {
	d := &Question{data: req.Data, steps: steps{frame: frame{id: req.UIID}, count: len(req.Data.Questions),
		send: choices{all: []choice{{label: "Submit the answers"}, {label: "Back to the first"}}}}}
	for _, q := range req.Data.Questions {
		p := page{q: q, picked: make([]bool, len(q.Options))}
		for _, o := range q.Options {
			p.all = append(p.all, choice{label: display.Line(o.Label), detail: display.Line(o.Description)})
		}
		p.all = append(p.all, choice{label: "Other (type your answer)"})
		p.own.Placeholder = "type an answer"
		d.pages = append(d.pages, p)
	}
	return d
}

// page returns the question that is seen, nil when it is the answers.
func (d *Question) page() *page {
	if d.at < len(d.pages) {
		return &d.pages[d.at]
	}
	return nil
}

// Places are those of the editor while words of one's own are typed.
func (d *Question) Places() []keymap.Place {
	p := d.page()
	return places(p != nil && p.ownWords() && p.own.Text() != "")
}

// Do does an action.
func (d *Question) Do(a keymap.Action) Outcome {
	if o, ok := d.steps.do(a, d.sent); ok {
		return o
	}
	p := d.page()
	switch a {
	case keymap.DialogTabNext, keymap.DialogReason, keymap.Complete:
		d.turn(1)
		return Outcome{}
	}
	if a == keymap.ListMark && p.q.Multiple && !p.ownWords() {
		p.toggle(p.on)
		return Outcome{}
	}
	if d.frame.do(a) {
		return Outcome{}
	}
	if i, ok := p.do(a); ok {
		return d.pick(p, i)
	}
	if p.ownWords() {
		p.own.Do(a)
	}
	return Outcome{}
}

// Insert takes what was typed: the number of an answer, a blank to tick one of several,
// and else words of one's own.
func (d *Question) Insert(text string) Outcome {
	if o, ok := d.steps.insert(text, d.sent); ok {
		return o
	}
	p := d.page()
	if !p.ownWords() {
		if text == " " && p.q.Multiple {
			p.toggle(p.on)
			return Outcome{}
		}
		if i, ok := p.number(text); ok {
			if p.q.Multiple && i < len(p.picked) {
				p.toggle(i)
				return Outcome{}
			}
			if i == len(p.picked) {
				return Outcome{} // the words are to come
			}
			return d.pick(p, i)
		}
		if text == " " {
			return Outcome{}
		}
		p.on = len(p.q.Options)
	}
	p.own.Insert(text)
	return Outcome{}
}

// Paste goes into words of one's own.
func (d *Question) Paste(text string) {
	if p := d.page(); p != nil {
		p.on = len(p.q.Options)
		p.own.Insert(text)
	}
}

func (p *page) toggle(i int) { p.on, p.picked[i] = i, !p.picked[i] }

// pick ends a question with the answer that is on: of one that takes several, with all
// that are ticked too.
func (d *Question) pick(p *page, i int) Outcome {
	if !p.q.Multiple {
		clear(p.picked)
	}
	if i < len(p.picked) {
		if !p.q.Multiple || len(p.answer()) == 0 {
			p.picked[i] = true
		}
		if !p.q.Multiple {
			p.own.Set("")
		}
	} else if len(p.answer()) == 0 {
		return Outcome{} // nothing was typed
	}
	p.done = true
	d.turn(1)
	if len(d.pages) == 1 {
		return d.sent(0)
	}
	return Outcome{}
}

// answer returns what was picked and typed.
func (p *page) answer() protocol.Answer {
	var a protocol.Answer
	for i, on := range p.picked {
		if on {
			a = append(a, p.q.Options[i].Label)
		}
	}
	if text := strings.TrimSpace(p.own.Text()); text != "" && (p.q.Multiple || len(a) == 0) {
		a = append(a, text)
	}
	return a
}

func (d *Question) sent(choice int) Outcome {
	if choice == 1 {
		d.turn(-d.count)
		return Outcome{}
	}
	answers := make(protocol.Answers, len(d.pages))
	for i := range d.pages {
		if d.pages[i].done {
			answers[i] = d.pages[i].answer()
		}
		if answers[i] == nil {
			answers[i] = protocol.Answer{}
		}
	}
	return answerUI(d.id, answers)
}

// answerUI closes a dialog of the host with a value; nil is no answer.
func answerUI(id string, value any) Outcome {
	raw, err := json.Marshal(value)
	if err != nil { // of strings and booleans: never
		raw = json.RawMessage("null")
	}
	return Outcome{Done: true, Request: &protocol.AnswerUI{UIID: id, Value: raw}}
}

// Render draws the dialog.
func (d *Question) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	title := "The model asks"
	if s := d.data.Subagent; s != nil {
		title = "The sub-agent " + display.Line(s.Agent) + " asks"
	}
	p := d.page()
	if p == nil {
		return d.review(th, width, height, title, nil, d.answers())
	}
	var ask []string
	if s := d.data.Subagent; s != nil && th.Agent(s.Color) != "" {
		ask = append(ask, subagent(th, width, s))
	}
	if len(d.pages) > 1 {
		ask = append(ask, d.tabs(th, width))
	}
	ask = append(ask, prose(p.q.Question, width, th.Strong)...)
	if p.q.Multiple {
		ask = append(ask, prose("Space: select. "+d.named(keymap.DialogPick)+": continue.", width, th.Dim)...)
	}
	below, cursor, at := p.render(th, width, d.armed)
	doing := []row.Doing{{Action: keymap.DialogPick, Text: "answer"}}
	if len(d.pages) > 1 {
		doing = append(doing, row.Doing{Action: keymap.DialogReason, Text: "next question"})
	}
	doing = append(doing, d.closing("skip"))
	return d.compose(th, width, height, title, ask, below, at, cursor, doing...)
}

// answers are what was given so far.
func (d *Question) answers() []given {
	var all []given
	for i := range d.pages {
		q := &d.pages[i]
		text := strings.Join(q.answer(), ", ")
		if !q.done || text == "" {
			text = "(not answered)"
		}
		all = append(all, given{q.name(i), text})
	}
	return all
}

// name is the header of a question, or its number.
func (p *page) name(i int) string {
	if h := display.Line(p.q.Header); h != "" {
		return h
	}
	return fmt.Sprint("Question ", i+1)
}

// tabs draws the names of the questions, with what is answered marked.
func (d *Question) tabs(th *theme.Theme, width int) string {
	var pieces []row.Piece
	for i := range d.pages {
		style := th.Dim
		if i == d.at {
			style = th.Selected
		}
		mark := ""
		if d.pages[i].done {
			mark = th.Box.Check + " "
		}
		pieces = append(pieces, row.Piece{Text: " " + mark + d.pages[i].name(i) + " ", Style: style}, row.Piece{Text: " "})
	}
	return row.Line(th, width, "", pieces, nil)
}

// render draws the answers of a question.
func (p *page) render(th *theme.Theme, width int, armed bool) (lines []string, cursor *field.Cursor, at int) {
	for i := range p.all {
		p.all[i].mark = ""
		if p.q.Multiple && i < len(p.picked) {
			p.all[i].mark = "[ ] "
			if p.picked[i] {
				p.all[i].mark = "[x] "
			}
		}
	}
	lines, at = p.choices.render(th, width, armed)
	if p.ownWords() && armed || p.own.Text() != "" {
		indent := 5
		text, x := p.own.Render(th, max(1, width-indent))
		lines = append(lines, cell.Cut(strings.Repeat(" ", indent), width, "")+text)
		if p.ownWords() && armed {
			at = len(lines) - 1
			cursor = &field.Cursor{X: x + indent, Y: at}
		}
	}
	return lines, cursor, at
}
