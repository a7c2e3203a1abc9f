package dialog

import (
	"fmt"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
)

// choice is one answer that is offered.
type choice struct {
	label  string
	detail string // below it, "" for none
	mark   string // before it, such as a box that is ticked
	style  theme.Style
}

// choices are answers with numbers, one of which is on.
type choices struct {
	all []choice
	on  int
}

// do moves, or picks the one that is on.
func (c *choices) do(a keymap.Action) (picked int, ok bool) {
	switch a {
	case keymap.DialogNext, keymap.DialogTabNext, keymap.ListDown, keymap.Down:
		c.on = (c.on + 1) % len(c.all)
	case keymap.DialogBack, keymap.DialogTabBack, keymap.ListUp, keymap.Up:
		c.on = (c.on + len(c.all) - 1) % len(c.all)
	case keymap.DialogPick, keymap.Submit, keymap.ListPick:
		return c.on, true
	}
	return 0, false
}

// number returns the answer of a digit that was typed.
func (c *choices) number(text string) (picked int, ok bool) {
	if len(text) == 1 && text[0] >= '1' && text[0] <= '9' {
		if i := int(text[0] - '1'); i < len(c.all) {
			c.on = i
			return i, true
		}
	}
	return 0, false
}

// render draws the answers in full; at gives the line at which the one that is on
// begins. While the dialog does not take keys nothing is pointed at.
func (c *choices) render(th *theme.Theme, width int, armed bool) (lines []string, at int) {
	for i, ch := range c.all {
		pointer, style := "  ", th.Text.With(ch.style)
		switch {
		case !armed:
			style = th.Dim
		case i == c.on:
			pointer = cell.Pad(th.Box.Arrow, 2)
			style = style.With(th.Strong)
			at = len(lines)
		}
		number := "   "
		if i < 9 {
			number = fmt.Sprintf("%d. ", i+1)
		}
		head := pointer + number + ch.mark
		indent := cell.Width(head)
		for k, l := range cell.Wrap(ch.label, max(1, width-indent)) {
			if k > 0 {
				head = strings.Repeat(" ", indent)
			}
			lines = append(lines, cell.Cut(th.Accent.On(head)+style.On(l), width, ""))
		}
		if ch.detail != "" {
			for _, l := range cell.Wrap(ch.detail, max(1, width-indent)) {
				lines = append(lines, cell.Cut(strings.Repeat(" ", indent)+th.Dim.On(l), width, ""))
			}
		}
	}
	return lines, at
}
