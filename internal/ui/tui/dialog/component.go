package dialog

import (
	"fmt"

	"scorel/internal/text/cell"
	"scorel/internal/text/sgr"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// Component is what an extension draws. On this screen it shows the newest frame, and keys
// are not for it but for the extension; elsewhere it says where, and offers to take it.
type Component struct {
	frame
	choices
	data protocol.Dialog

	here  bool // it is on this screen
	late  bool // the extension does not answer a key
	drawn []string
	at    *protocol.UICursor
}

// The answers of a component that is elsewhere.
const (
	takeIt = iota
	closeIt
)

func newComponent(req protocol.UIRequest) *Component {
	return &Component{frame: frame{id: req.UIID}, data: req.Data, choices: choices{all: []choice{{label: "Open it here"}, {label: "Close it"}}}}
}

// Owner returns who has the component, as the host says; nil for nobody.
func (d *Component) Owner() *protocol.UIOwner { return d.data.Owner }

// Update takes what the host says of the component now.
func (d *Component) Update(data protocol.Dialog) { d.data = data }

// Here reports whether the component is on this screen.
func (d *Component) Here() bool { return d.here }

// SetHere says whether the component is on this screen. A frame that has come before it was
// stays: frames and answers of the host come by ways of their own.
func (d *Component) SetHere(on bool) {
	if !on {
		d.drawn, d.at, d.late = nil, nil, false
	}
	d.here = on
}

// SetLate says whether the extension has not answered a key for long.
func (d *Component) SetLate(on bool) { d.late = on }

// Show takes a frame. Its lines are cleaned once more: a terminal is not to depend on what
// a host has done.
func (d *Component) Show(f *protocol.UIFrame) {
	d.drawn = make([]string, 0, min(len(f.Lines), protocol.MaxFrameLines))
	for _, l := range f.Lines[:min(len(f.Lines), protocol.MaxFrameLines)] {
		d.drawn = append(d.drawn, sgr.Line(l))
	}
	d.at = f.Cursor
}

// Close returns the outcome of closing the component.
func (d *Component) Close() Outcome { return answerUI(d.id, nil) }

// Do does an action of a component that is elsewhere.
func (d *Component) Do(a keymap.Action) Outcome {
	if d.here {
		return Outcome{}
	}
	if a == keymap.DialogClose || a == keymap.Cancel || a == keymap.ListClose {
		return d.Close()
	}
	return d.chosen(d.choices.do(a))
}

// Insert takes the number of an answer of a component that is elsewhere.
func (d *Component) Insert(text string) Outcome {
	if d.here {
		return Outcome{}
	}
	if i, ok := d.number(text); ok {
		return d.chosen(i, true)
	}
	return Outcome{Draft: true}
}

func (d *Component) chosen(i int, ok bool) Outcome {
	switch {
	case !ok:
		return Outcome{}
	case i == takeIt:
		return Outcome{Take: true}
	}
	return d.Close()
}

// Paste does nothing: what is pasted into a component on this screen is sent.
func (d *Component) Paste(string) {}

// name says whose the component is.
func (d *Component) name() string {
	if d.data.Source == "" {
		return "The extension"
	}
	return display.Line(d.data.Source)
}

func (d *Component) title() string {
	if d.data.Title == "" || d.data.Title == d.data.Source {
		return d.name()
	}
	return asker(d.data)
}

// Render draws the component: what the extension drew, cut where it is too wide or too long.
func (d *Component) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	if !d.here {
		text := "Nobody has it on the screen."
		if o := d.data.Owner; o != nil {
			text = "It is open in another client."
			if o.ClientName != "" {
				text = "It is open in another client (" + display.Line(o.ClientName) + ")."
			}
		}
		lines, at := d.choices.render(th, width, d.armed)
		return d.compose(th, width, height, d.title(), prose(text, width, th.Text), lines, at, nil, row.Doing{Action: keymap.DialogPick, Text: "choose"}, row.Doing{Action: keymap.DialogClose, Text: "close it"})
	}
	if width < 1 || height < 1 {
		return nil, nil
	}
	right := ""
	if d.of > 1 {
		right = fmt.Sprintf("%d of %d", d.n, d.of)
	}
	lines := []string{row.Rule(th, width, d.title(), right)}
	room := max(0, height-2) // below it a line says what Esc does
	from := 0
	if d.at != nil && d.at.Row >= room {
		from = d.at.Row - room + 1
	}
	shown := d.drawn[min(from, len(d.drawn)):min(len(d.drawn), from+room)]
	for _, l := range shown {
		lines = append(lines, cell.Cut(l, width, "")+cell.Reset)
	}
	var cursor *field.Cursor
	if d.at != nil && d.armed && d.at.Row-from < len(shown) {
		cursor = &field.Cursor{X: min(d.at.Column, width-1), Y: d.at.Row - from + 1}
	}
	if height < 2 {
		return lines[:height], nil
	}
	return append(lines, d.foot(th, width, len(d.drawn)-len(shown))), cursor
}

// foot is the line below what was drawn.
func (d *Component) foot(th *theme.Theme, width, hidden int) string {
	style, text := th.Dim, "Esc twice closes it"
	switch {
	case !d.armed:
		return "" // its line is kept, so that nothing moves when keys count
	case d.late:
		style, text = th.Warning, d.name()+" is not responding. Esc twice closes it"
	case d.drawn == nil:
		text = "waiting for " + d.name() + ". Esc twice closes it"
	case hidden > 0:
		text = fmt.Sprintf("%d of %d lines do not fit. Esc twice closes it", hidden, len(d.drawn))
	}
	return style.On(cell.Cut(text, width, th.Box.Ellipsis))
}
