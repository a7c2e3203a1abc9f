package dialog

import (
	"strconv"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/list"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Area is a text of several lines that is edited: the editor of the conversation is
// one.
type Area interface {
	Do(a keymap.Action) bool
	Insert(text string)
	Paste(text string)
	Text() string
	// Render draws at most height lines of at most width cells, and says where the
	// cursor stands.
	Render(th *theme.Theme, width, height int) (lines []string, x, y int)
}

// New makes the dialog of a request of the host. Plan draws the text of a plan, nil
// shows it as it is; area makes the editor of a text, nil asks for one line.
func New(req protocol.UIRequest, plan Lines, area func(text string) Area) Dialog {
	switch req.Data.Kind {
	case protocol.DialogQuestion:
		if len(req.Data.Questions) > 0 {
			return NewQuestion(req)
		}
	case protocol.DialogSelect:
		if len(req.Data.Options) > 0 {
			return newSelect(req)
		}
	case protocol.DialogConfirm:
		return newYesNo(req)
	case protocol.DialogInput:
		return newInput(req, nil)
	case protocol.DialogEditor:
		if area != nil {
			return newInput(req, area(req.Data.Text))
		}
		return newInput(req, nil)
	case protocol.DialogPlan:
		return newPlan(req, plan)
	case protocol.DialogForm:
		if d := newForm(req); d != nil {
			return d
		}
	case protocol.DialogURL:
		return newAddress(req)
	case protocol.DialogCustom:
		return newComponent(req)
	}
	return &unknown{frame: frame{id: req.UIID}, choices: choices{all: []choice{{label: "Close it without an answer"}}}}
}

// asker says who asks, for the title of a dialog.
func asker(d protocol.Dialog) string {
	title := display.Line(d.Title)
	if title == "" {
		title = "A question"
	}
	if d.Source != "" {
		title += " (" + display.Line(d.Source) + ")"
	}
	return title
}

// selection is one of several options, which are found by typing.
type selection struct {
	frame
	data protocol.Dialog
	list *list.List
}

func newSelect(req protocol.UIRequest) *selection {
	var items []list.Item
	for i, o := range req.Data.Options {
		items = append(items, list.Item{ID: strconv.Itoa(i), Title: o.Label, Detail: o.Description})
	}
	return &selection{frame: frame{id: req.UIID}, data: req.Data,
		list: list.New(list.Config{Title: asker(req.Data), Items: items, Can: list.Filter})}
}

// Places are those of a list.
func (d *selection) Places() []keymap.Place { return d.list.Places() }

func (d *selection) Do(a keymap.Action) Outcome {
	switch a {
	case keymap.DialogNext:
		a = keymap.ListDown
	case keymap.DialogBack:
		a = keymap.ListUp
	case keymap.DialogPick:
		a = keymap.ListPick
	case keymap.DialogUp:
		a = keymap.ListPageUp
	case keymap.DialogDown:
		a = keymap.ListPageDown
	case keymap.DialogClose, keymap.Cancel:
		a = keymap.ListClose
	}
	return d.outcome(d.list.Do(a))
}

// SetKeys returns the keys to the list.
func (d *selection) SetKeys(keys *keymap.Map) { d.list.SetKeys(keys) }

func (d *selection) Insert(text string) Outcome { return d.outcome(d.list.Insert(text)) }
func (d *selection) Paste(text string)          { d.list.Paste(text) }

func (d *selection) outcome(o list.Outcome) Outcome {
	switch o.Kind {
	case list.Closed:
		return answerUI(d.id, nil)
	case list.Picked:
		if i, err := strconv.Atoi(o.IDs[0]); err == nil && i < len(d.data.Options) {
			return answerUI(d.id, d.data.Options[i].Label)
		}
	}
	return Outcome{}
}

func (d *selection) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	return d.list.Render(th, width, height)
}

// yesNo is yes or no.
type yesNo struct {
	frame
	choices
	data protocol.Dialog
}

func newYesNo(req protocol.UIRequest) *yesNo {
	return &yesNo{frame: frame{id: req.UIID}, data: req.Data, choices: choices{all: []choice{{label: "Yes"}, {label: "No"}}}}
}

func (d *yesNo) Do(a keymap.Action) Outcome {
	switch a {
	case keymap.DialogClose, keymap.Cancel, keymap.ListClose:
		return answerUI(d.id, nil)
	}
	if d.frame.do(a) {
		return Outcome{}
	}
	if i, ok := d.choices.do(a); ok {
		return answerUI(d.id, i == 0)
	}
	return Outcome{}
}

func (d *yesNo) Insert(text string) Outcome {
	if i, ok := yesOrNo(&d.choices, text); ok {
		return answerUI(d.id, i == 0)
	}
	return Outcome{Draft: true}
}

// yesOrNo reads y, n, or the number of a choice, of which the first one is yes.
func yesOrNo(c *choices, text string) (picked int, ok bool) {
	switch text {
	case "y", "Y":
		return 0, true
	case "n", "N":
		return 1, true
	}
	return c.number(text)
}

func (d *yesNo) Paste(string) {}

func (d *yesNo) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	body := d.lines(th, width, func(th *theme.Theme, width int) []string {
		lines := []string{}
		if d.data.Message != "" {
			lines = prose(d.data.Message, width, th.Text)
		}
		if d.data.URL != "" {
			lines = append(lines, exact(display.Line(display.Literal(d.data.URL)), width, th.Strong)...)
		}
		return lines
	})
	lines, at := d.choices.render(th, width, d.armed)
	return d.compose(th, width, height, asker(d.data), body, lines, at, nil, answers()...)
}

// input is a line or, with an area, a text.
type input struct {
	frame
	data protocol.Dialog
	line field.Field
	area Area
}

func newInput(req protocol.UIRequest, area Area) *input {
	d := &input{frame: frame{id: req.UIID}, data: req.Data, area: area}
	d.line.Placeholder = req.Data.Placeholder
	if req.Data.Kind == protocol.DialogEditor {
		d.line.Max = protocol.MaxEdited
	}
	if area == nil {
		d.line.Insert(req.Data.Text)
	}
	return d
}

func (d *input) Places() []keymap.Place { return places(true) }

func (d *input) Do(a keymap.Action) Outcome {
	switch a {
	case keymap.DialogClose, keymap.Cancel, keymap.ListClose:
		return answerUI(d.id, nil)
	case keymap.DialogPick, keymap.Submit, keymap.ListPick:
		if d.area != nil {
			return answerUI(d.id, d.area.Text())
		}
		return answerUI(d.id, d.line.Text())
	}
	if d.area != nil {
		d.area.Do(a)
	} else {
		d.line.Do(a)
	}
	return Outcome{}
}

func (d *input) Insert(text string) Outcome {
	if d.area != nil {
		d.area.Insert(text)
	} else {
		d.line.Insert(text)
	}
	return Outcome{}
}

func (d *input) Paste(text string) {
	if d.area != nil {
		d.area.Paste(text)
	} else {
		d.line.Insert(text)
	}
}

// answers are the actions of a dialog with one answer.
func answers() []row.Doing {
	return []row.Doing{{Action: keymap.DialogPick, Text: "answer"}, {Action: keymap.DialogClose, Text: "skip"}}
}

func (d *input) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	if d.area != nil {
		lines, x, y := d.area.Render(th, width, max(1, min(height-1, folded)))
		return d.compose(th, width, height, asker(d.data), nil, lines, y, &field.Cursor{X: x, Y: y}, answers()...)
	}
	text, x := d.line.Render(th, max(1, width-2))
	lines := []string{cell.Cut(th.Accent.On("> "), width, "") + text}
	if d.line.Full() {
		lines = append(lines, row.Line(th, width, "", []row.Piece{{Text: "The answer cannot be longer.", Style: th.Warning}}, nil))
	}
	return d.compose(th, width, height, asker(d.data), nil, lines, 0, &field.Cursor{X: x + 2}, answers()...)
}

// unknown is a dialog of a kind that this version does not know.
type unknown struct {
	frame
	choices
}

func (d *unknown) Do(a keymap.Action) Outcome {
	if _, ok := d.choices.do(a); ok || a == keymap.DialogClose || a == keymap.Cancel || a == keymap.ListClose {
		return answerUI(d.id, nil)
	}
	return Outcome{}
}

func (d *unknown) Insert(text string) Outcome {
	if _, ok := d.number(text); ok {
		return answerUI(d.id, nil)
	}
	return Outcome{Draft: true}
}

func (d *unknown) Paste(string) {}

func (d *unknown) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	body := prose("The host asks in a way that this version does not know. Update Scorel, or answer in another client.", width, th.Warning)
	lines, at := d.choices.render(th, width, d.armed)
	return d.compose(th, width, height, "A question", body, lines, at, nil, answers()...)
}
