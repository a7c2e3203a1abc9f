package complete

import (
	"fmt"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/theme"
)

// maxNameShare is the part of a width, in hundredths, that names may take where
// something is said about them.
const maxNameShare = 55

// Render draws what is offered in at most rows lines of at most width cells: the
// selected one among them, and in the last line how many there are when not all are
// shown. Nothing offered is no lines.
func (l *List) Render(th *theme.Theme, width, rows int) []string {
	if !l.Open() || rows < 1 || width < 1 {
		return nil
	}
	count := rows > 1 && (len(l.items) > rows || l.more)
	if count {
		rows--
	}
	rows = min(rows, len(l.items))
	l.top = min(max(min(l.top, l.on), l.on-rows+1), len(l.items)-rows)
	shown := l.items[l.top : l.top+rows]
	names := 0
	about := false
	for _, it := range l.items { // all, so that nothing moves when it is scrolled
		names = max(names, cell.Width(name(it)))
		about = about || it.about != ""
	}
	if about {
		names = min(names, width*maxNameShare/100)
	}
	var lines []string
	for i, it := range shown {
		lines = append(lines, l.line(th, it, l.top+i == l.on, names, width))
	}
	if count {
		more := ""
		if l.more {
			more = "+"
		}
		lines = append(lines, th.Dim.On(cell.Cut(fmt.Sprintf("  %d of %d%s", l.on+1, len(l.items), more), width, "")))
	}
	return lines
}

func name(it item) string {
	if it.hint != "" {
		return it.label + " " + it.hint
	}
	return it.label
}

func (l *List) line(th *theme.Theme, it item, on bool, names, width int) string {
	mark := "  "
	if on {
		mark = cell.Pad(cell.Cut(th.Box.Arrow, 1, ""), 2)
	}
	label := it.label
	if l.token.kind == file { // its end says which one it is
		label = cutLeft(label, max(width-2, 1), th.Box.Ellipsis)
	}
	text := cell.Cut(label, max(names, 1), th.Box.Ellipsis)
	if it.about == "" {
		text = cell.Cut(label, max(width-2, 1), th.Box.Ellipsis)
	}
	hint := ""
	if left := names - cell.Width(text) - 1; it.hint != "" && left > 0 {
		hint = " " + cell.Cut(it.hint, left, th.Box.Ellipsis)
	}
	gap := strings.Repeat(" ", max(names-cell.Width(text)-cell.Width(hint), 0)+2)
	about := ""
	if left := width - 2 - names - 2; it.about != "" && left > 3 {
		about = gap + cell.Cut(it.about, left, th.Box.Ellipsis)
	}
	if on {
		return th.Selected.On(cell.Pad(cell.Cut(mark+text+hint+about, width, ""), width))
	}
	style := th.Text
	if it.refused {
		style = th.Dim
	}
	return cell.Cut(style.On(mark+text)+th.Dim.On(hint+about), width, "")
}

// cutLeft returns the end of a text that is too long.
func cutLeft(text string, width int, mark string) string {
	if cell.Width(text) <= width {
		return text
	}
	r := []rune(text)
	for len(r) > 0 && cell.Width(string(r)) > width-cell.Width(mark) {
		r = r[1:]
	}
	return mark + string(r)
}
