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
	all  []choice
	on   int
	most int  // lines of a label and of a detail that are drawn, 0 for all of them
	left bool // something of them was left out
}

// endCells is how much of the end of an answer is seen when its middle is left out, in cells:
// enough for what tells two answers from each other (") for this session").
const endCells = 20

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

// shorten returns text in lines of at most width cells, of which there are c.most.
func (c *choices) shorten(text string, width int, ellipsis string) []string {
	front := text
	if c.most > 0 { // of a long text only as much is broken into lines as can be seen
		n, _ := cell.Fit(text, (c.most+1)*width)
		front = text[:n]
	}
	lines := cell.Wrap(front, width)
	if c.most == 0 || len(lines) <= c.most {
		return lines
	}
	c.left = true
	if whole, ok := c.shortenRules(text, width, ellipsis); ok {
		return whole
	}
	end := cell.CutLeft(text, max(0, cell.Width(text)-min(endCells, width/2)), ellipsis)
	last := cell.Cut(lines[c.most-1], max(0, width-cell.Width(end)), "") + end
	return append(lines[:c.most-1:c.most-1], last)
}

// betweenRules stands between two rules of an answer, behind the first one's bracket.
const betweenRules = "), "

// leastRule is how much of each rule is seen when an answer has several, in cells.
const leastRule = 16

// shortenRules leaves out the middle of each long rule of an answer that has several, so that
// none hides between two others; false is one whose rules do not all fit so.
func (c *choices) shortenRules(text string, width int, ellipsis string) ([]string, bool) {
	rules := strings.SplitAfter(text, betweenRules)
	if len(rules) == 1 {
		return nil, false
	}
	for each := c.most * width / len(rules); each >= leastRule; each-- {
		var b strings.Builder
		for _, r := range rules {
			if n := cell.Width(r); n > each {
				end := min(endCells, each/2)
				r = cell.Cut(r, each-end, "") + cell.CutLeft(r, n-end, ellipsis)
			}
			b.WriteString(r)
		}
		if lines := cell.Wrap(b.String(), width); len(lines) <= c.most {
			return lines, true
		}
	}
	lines := cell.Wrap(fmt.Sprintf("%s%s %d rules, of which not all fit here%s", cell.Cut(rules[0], min(cell.Width(rules[0]), width/2), ""), ellipsis, len(rules), afterRules(rules[len(rules)-1])), width)
	return lines[:min(len(lines), c.most)], true
}

// afterRules is what follows the last rule of an answer: for how long they count.
func afterRules(last string) string {
	return last[strings.LastIndexByte(last, ')')+1:]
}

// render draws the answers, in full or as far as c.most says; at gives the line at which the one that is on
// begins. While the dialog does not take keys nothing is pointed at.
func (c *choices) render(th *theme.Theme, width int, armed bool) (lines []string, at int) {
	c.left = false
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
		for k, l := range c.shorten(ch.label, max(1, width-indent), th.Box.Ellipsis) {
			if k > 0 {
				head = strings.Repeat(" ", indent)
			}
			lines = append(lines, cell.Cut(th.Accent.On(head)+style.On(l), width, ""))
		}
		if ch.detail != "" {
			for _, l := range c.shorten(ch.detail, max(1, width-indent), th.Box.Ellipsis) {
				lines = append(lines, cell.Cut(strings.Repeat(" ", indent)+th.Dim.On(l), width, ""))
			}
		}
	}
	return lines, at
}
