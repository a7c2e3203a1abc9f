package dialog

import (
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
)

// Typer is a dialog in which an answer is typed.
type Typer interface {
	// Typed returns what was typed so far, "" for nothing.
	Typed() string
}

// Gone stands in the place of a dialog that is over while somebody types the answer to it: it
// was answered elsewhere, or its time is over. It takes what they go on typing, which was meant
// for no model. Its outcome has no request, but Yes where the text is to be kept in the draft.
type Gone struct {
	frame
	line  field.Field
	typed string // before; line has it without line ends
	first string // what line had first
}

// NewGone makes the dialog. The id is that of the one that is over, so that it takes keys as
// that did.
func NewGone(id, typed string) *Gone {
	d := &Gone{frame: frame{id: id, armed: true}, typed: typed}
	d.line.Max = max(len(typed), maxBody)
	d.line.Insert(typed)
	d.first = d.line.Text()
	return d
}

// Text is what was typed.
func (d *Gone) Text() string {
	if more, ok := strings.CutPrefix(d.line.Text(), d.first); ok {
		return d.typed + more
	}
	return d.line.Text()
}

// Places are those of a dialog in which text is typed.
func (d *Gone) Places() []keymap.Place { return places(true) }

// Do does an action.
func (d *Gone) Do(a keymap.Action) Outcome {
	switch a {
	case keymap.DialogClose, keymap.Cancel, keymap.ListClose:
		return Outcome{Done: true}
	case keymap.DialogPick, keymap.Submit, keymap.ListPick:
		return Outcome{Done: true, Yes: true}
	}
	d.line.Do(a)
	return Outcome{}
}

// Insert takes what is typed.
func (d *Gone) Insert(text string) Outcome {
	d.line.Insert(text)
	return Outcome{}
}

// Paste takes what is pasted.
func (d *Gone) Paste(text string) { d.line.Insert(text) }

// Render draws the dialog.
func (d *Gone) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	body := d.lines(th, width, func(th *theme.Theme, width int) []string {
		return prose("The question was answered elsewhere, or its time is over. What you typed was not sent.", width, th.Warning)
	})
	text, x := d.line.Render(th, max(1, width-2))
	lines := []string{cell.Cut(th.Accent.On("> "), width, "") + text}
	return d.compose(th, width, height, "Too late", body, lines, 0, &field.Cursor{X: x + 2},
		row.Doing{Action: keymap.DialogPick, Text: "keep it as a draft"}, row.Doing{Action: keymap.DialogClose, Text: "close"})
}

// Typed implements [Typer].
func (d *input) Typed() string {
	text := d.line.Text()
	if d.area != nil {
		text = d.area.Text()
	}
	if text == d.data.Text {
		return ""
	}
	return text
}

// Typed implements [Typer].
func (p *Permission) Typed() string {
	if !p.typing {
		return ""
	}
	return p.why.Text()
}

// Typed implements [Typer].
func (d *plan) Typed() string {
	if !d.typing {
		return ""
	}
	return d.why.Text()
}

// Typed implements [Typer]: the answers in words of one's own, a line each.
func (d *Question) Typed() string {
	var texts []string
	for i := range d.pages {
		if text := d.pages[i].own.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// Typed implements [Typer]: what is in the fields that are typed and is not what they had, a
// line each.
func (d *formDialog) Typed() string {
	var texts []string
	for i := range d.pages {
		p := &d.pages[i]
		if !p.typed() {
			continue
		}
		had := formPage{f: p.f, value: p.f.Default}
		had.start()
		if text := p.line.Text(); text != "" && text != had.line.Text() {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}
