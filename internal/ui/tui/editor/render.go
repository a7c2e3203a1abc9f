package editor

import (
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol/display"
)

// Cursor is where the terminal's cursor belongs, from the upper left corner of what
// was rendered.
type Cursor struct {
	X, Y  int
	Block bool // the normal mode of vi
}

// markWidth is what is before the text, and the cell after a row for the cursor
// or a blank.
const markWidth, behind = 2, 1

// Height returns how many lines the text takes in a width, with the line of a search.
func (e *Editor) Height(width int) int {
	e.fit(width)
	if e.search != nil {
		return len(e.rows) + 1
	}
	return len(e.rows)
}

func (e *Editor) fit(width int) {
	if avail := max(width-markWidth-behind, 1); avail != e.avail {
		e.wrap(avail)
	}
}

// Render draws the text in at most height lines of at most width cells, scrolled so
// that the cursor is among them.
func (e *Editor) Render(th *theme.Theme, width, height int) (lines []string, cursor Cursor) {
	e.fit(width)
	room := max(height, 1)
	if e.search != nil && room > 1 {
		room--
	}
	row := e.rowOf(e.pos)
	e.top = min(max(min(e.top, row), row-room+1), max(len(e.rows)-room, 0))
	end := min(e.top+room, len(e.rows))
	for r := e.top; r < end; r++ {
		line := e.mark(th, r, end) + e.row(th, r)
		if r == len(e.rows)-1 && e.ghost != "" && e.pos == len(e.text) && e.search == nil {
			if left := width - cell.Width(line) - behind; left > 0 {
				line += th.Dim.On(cell.Cut(display.Line(e.ghost), left, "…"))
			}
		}
		lines = append(lines, cell.Cut(line, width, ""))
	}
	cursor = Cursor{X: min(markWidth+e.column(e.pos), max(width-1, 0)), Y: row - e.top, Block: e.vim.normal()}
	if e.search != nil && height > 1 {
		line := e.searchLine(th, width)
		cursor.X, cursor.Y = min(cell.Width(line), max(width-1, 0)), len(lines)
		if e.search.failed {
			line += th.Warning.On(cell.Cut("  nothing older", max(width-cell.Width(line), 0), ""))
		}
		lines = append(lines, line)
	}
	return lines, cursor
}

// mark draws what is before a row: what the text is for, and whether there is
// more of it than is shown, up to end.
func (e *Editor) mark(th *theme.Theme, r, end int) string {
	m, _ := e.mode()
	sign, style := th.Box.Arrow, th.UserMark
	switch m {
	case Shell:
		sign, style = "$", th.Warning
	case ShellApart:
		sign, style = "$", th.Dim
	case Command:
		style = th.Accent
	case NoteHere, NoteUser:
		sign, style = "+", th.Info
	}
	switch {
	case r == e.top && r > 0, r == end-1 && end < len(e.rows):
		sign, style = th.Box.Ellipsis, th.Dim
	case r > 0:
		return "  "
	}
	return style.On(cell.Pad(cell.Cut(sign, 1, ""), markWidth))
}

// row draws a row: chips and what was looked for in their styles.
func (e *Editor) row(th *theme.Theme, r int) string {
	end := len(e.text)
	if r+1 < len(e.rows) {
		end = e.rows[r+1]
	}
	var b, run strings.Builder
	on := th.Text
	flush := func() {
		b.WriteString(on.On(run.String()))
		run.Reset()
	}
	for at := e.rows[r]; at < end; {
		n := next(e.text[at:])
		c := e.text[at : at+n]
		style := th.Text
		switch {
		case c[0] == chipLead:
			style = th.Chip
		case e.search != nil && at >= e.search.from && at < e.search.to:
			style = th.Match
		}
		if style != on {
			flush()
			on = style
		}
		text, _ := e.shown(c, e.avail)
		run.WriteString(text)
		at += n
	}
	flush()
	return b.String()
}

func (e *Editor) searchLine(th *theme.Theme, width int) string {
	const title = "search: "
	left := max(width-len(title)-behind, 1)
	query := display.Line(e.search.query)
	if w := cell.Width(query); w > left { // its end is what is being typed
		for r := []rune(query); cell.Width(query) > left; query = string(r) {
			r = r[1:]
		}
	}
	return cell.Cut(th.Dim.On(title)+th.Text.On(query), max(width, 0), "")
}
