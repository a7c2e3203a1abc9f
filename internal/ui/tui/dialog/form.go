package dialog

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
	"scorel/protocol/form"
)

// formDialog asks for values, one field at a time, and shows them all before they are sent.
type formDialog struct {
	steps
	data  protocol.Dialog
	pages []formPage
}

// formPage is one field with the value so far. One that is typed has no choices.
type formPage struct {
	choices
	f      form.Field
	picked []bool // of the options, where several may be
	line   field.Field
	value  json.RawMessage // nil is left out
	wrong  string          // why what was given does not do
}

// closes is what the key that closes a form does: it declines all of it.
const closes = "close without an answer"

// newForm makes the dialog of a form, nil where its schema cannot be shown.
func newForm(req protocol.UIRequest) *formDialog {
	fields, err := form.Fields(req.Data.Schema)
	if err != nil {
		return nil
	}
	d := &formDialog{data: req.Data, steps: steps{frame: frame{id: req.UIID}, count: len(fields),
		send: choices{all: []choice{{label: "Submit the answers"}, {label: "Back to the first"}, {label: "Decline"}}}}}
	for _, f := range fields {
		p := formPage{f: f, value: f.Default}
		for _, o := range f.Options {
			p.all = append(p.all, choice{label: display.Line(o.Title)})
		}
		switch f.Type {
		case form.Boolean:
			p.all = []choice{{label: "Yes"}, {label: "No"}}
		case form.Choices:
			p.picked = make([]bool, len(f.Options))
		}
		if !f.Required && len(p.all) > 0 && p.picked == nil {
			p.all = append(p.all, choice{label: "Skip"})
		}
		p.line.Placeholder = display.Line(f.Hint())
		p.line.Max = protocol.MaxAnswer
		p.start()
		d.pages = append(d.pages, p)
	}
	return d
}

// start shows the default as the answer that is on.
func (p *formPage) start() {
	var text string
	var many []string
	switch {
	case p.value == nil:
	case p.f.Type == form.Choices && json.Unmarshal(p.value, &many) == nil:
		for i, o := range p.f.Options {
			for _, value := range many {
				p.picked[i] = p.picked[i] || o.Value == value
			}
		}
	case p.f.Type == form.Boolean:
		if string(p.value) == "false" {
			p.on = 1
		}
	case json.Unmarshal(p.value, &text) != nil: // a number
		p.line.Insert(string(p.value))
	case p.f.Type == form.Text:
		p.line.Insert(text)
	default:
		for i, o := range p.f.Options {
			if o.Value == text {
				p.on = i
			}
		}
	}
}

func (p *formPage) typed() bool { return len(p.all) == 0 }

// page returns the field that is seen, nil when it is the answers.
func (d *formDialog) page() *formPage {
	if d.at < len(d.pages) {
		return &d.pages[d.at]
	}
	return nil
}

// Places are those of the editor while a value is typed.
func (d *formDialog) Places() []keymap.Place {
	p := d.page()
	return places(p != nil && p.typed())
}

func (d *formDialog) Do(a keymap.Action) Outcome {
	if o, ok := d.steps.do(a, d.sent); ok {
		return o
	}
	p := d.page()
	switch {
	case a == keymap.DialogTabNext || a == keymap.DialogReason || a == keymap.Complete:
		d.take(p.on)
	case a == keymap.ListMark && p.picked != nil:
		p.picked[p.on] = !p.picked[p.on]
	case p.typed() && (a == keymap.DialogPick || a == keymap.Submit || a == keymap.ListPick):
		d.take(0)
	case p.typed():
		if !d.frame.do(a) {
			p.line.Do(a)
		}
	case d.frame.do(a):
	default:
		if i, ok := p.do(a); ok {
			d.take(i)
		}
	}
	return Outcome{}
}

// Insert takes what was typed: a value, the number of an answer, or a blank to tick one of
// several.
func (d *formDialog) Insert(text string) Outcome {
	if o, ok := d.steps.insert(text, d.sent); ok {
		return o
	}
	p := d.page()
	switch {
	case p.typed():
		p.line.Insert(text)
		p.wrong = ""
	case text == " " && p.picked != nil:
		p.picked[p.on] = !p.picked[p.on]
	case p.f.Type == form.Boolean && strings.ContainsAny(text, "yYnN"):
		if i, ok := yesOrNo(&p.choices, text); ok {
			d.take(i)
		}
	default:
		if i, ok := p.number(text); ok {
			if p.picked != nil {
				p.picked[i] = !p.picked[i]
			} else {
				d.take(i)
			}
		}
	}
	return Outcome{}
}

// Paste goes into a value that is typed.
func (d *formDialog) Paste(text string) {
	if p := d.page(); p != nil && p.typed() {
		p.line.Insert(text)
	}
}

// take ends a field with the answer that is on or what is typed, when it does.
func (d *formDialog) take(on int) {
	p := d.page()
	value, err := p.given(on)
	if err != nil {
		p.wrong = display.Line(err.Error())
		return
	}
	p.value, p.wrong = value, ""
	d.turn(1)
}

func (p *formPage) given(on int) (json.RawMessage, error) {
	switch {
	case p.typed():
		return p.f.Read(p.line.Text())
	case p.picked != nil:
		many := []string{}
		for i, yes := range p.picked {
			if yes {
				many = append(many, p.f.Options[i].Value)
			}
		}
		if len(many) == 0 {
			f := p.f
			f.Default = nil // it was taken away
			return f.Read("")
		}
		value, err := json.Marshal(many)
		if err != nil {
			return nil, err
		}
		return value, p.f.Check(value)
	case p.f.Type == form.Boolean && on < 2:
		return json.RawMessage(strconv.FormatBool(on == 0)), nil
	case p.f.Type == form.Choice && on < len(p.f.Options):
		return json.Marshal(p.f.Options[on].Value)
	}
	return nil, nil
}

// sent ends the dialog, unless a field lacks its value: then it is asked for.
func (d *formDialog) sent(choice int) Outcome {
	switch choice {
	case 1:
		d.turn(-len(d.pages))
		return Outcome{}
	case 2:
		return answerUI(d.id, false)
	}
	values := map[string]json.RawMessage{}
	for i := range d.pages {
		p := &d.pages[i]
		switch {
		case p.value != nil:
			values[p.f.Name] = p.value
		case p.f.Required:
			d.at, p.wrong = i, display.Line(p.f.Title)+" must be given"
			return Outcome{}
		}
	}
	return answerUI(d.id, values)
}

func (d *formDialog) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	var about []string
	if d.data.Message != "" {
		about = prose(d.data.Message, width, th.Text)
	}
	p := d.page()
	if p == nil {
		return d.review(th, width, height, asker(d.data), about, d.answers())
	}
	doing := []row.Doing{d.closing(closes)}
	about = append(about, prose(fmt.Sprintf("%d of %d: %s", d.at+1, len(d.pages), display.Line(p.f.Title)), width, th.Strong)...)
	if p.f.Description != "" {
		about = append(about, prose(p.f.Description, width, th.Dim)...)
	}
	if p.picked != nil {
		about = append(about, prose("Space: select. "+d.named(keymap.DialogPick)+": continue.", width, th.Dim)...)
	}
	lines, cursor, at := p.render(th, width, d.armed)
	if p.wrong != "" {
		lines = append(lines, row.Line(th, width, "", []row.Piece{{Text: p.wrong, Style: th.Warning}}, nil))
	}
	return d.compose(th, width, height, asker(d.data), about, lines, at, cursor, append([]row.Doing{{Action: keymap.DialogPick, Text: "next"}}, doing...)...)
}

// answers are what was given so far.
func (d *formDialog) answers() []given {
	var all []given
	for i := range d.pages {
		text := "(left out)"
		if v := d.pages[i].value; v != nil {
			text = string(v)
		}
		all = append(all, given{display.Line(d.pages[i].f.Title), text})
	}
	return all
}

func (p *formPage) render(th *theme.Theme, width int, armed bool) (lines []string, cursor *field.Cursor, at int) {
	if p.typed() {
		text, x := p.line.Render(th, max(1, width-2))
		return []string{cell.Cut(th.Accent.On("> "), width, "") + text}, &field.Cursor{X: x + 2}, 0
	}
	for i, yes := range p.picked {
		p.all[i].mark = map[bool]string{true: "[x] ", false: "[ ] "}[yes]
	}
	lines, at = p.choices.render(th, width, armed)
	return lines, nil, at
}

// newAddress asks the person to open an address: it is shown whole, and never opened by
// itself.
func newAddress(req protocol.UIRequest) *yesNo {
	d := newYesNo(req)
	d.all = []choice{{label: "I have opened it"}, {label: "No"}}
	return d
}
