package list

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/text/fuzzy"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
	"scorel/protocol/display"
)

// besideFrom is the width from which a preview is beside the rows.
const besideFrom = 100

// hintsFrom is the height from which the last line is for hints.
const hintsFrom = 8

// columns returns the cells of the rows and of the preview beside them, 0 when there is
// none.
func columns(width int) (rows, preview int) {
	if width < besideFrom {
		return width, 0
	}
	rows = width * 2 / 5
	return rows, width - rows - 3 // " │ "
}

// PreviewWidth is how wide the lines of a preview may be.
func PreviewWidth(width int) int {
	if _, n := columns(width); n > 0 {
		return n
	}
	return width
}

// Render draws the list: at most height lines of at most width cells, and where the
// cursor stands, nil when nothing is typed.
func (l *List) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	if width < 1 || height < 1 {
		return nil, nil
	}
	lines := []string{row.Rule(th, width, l.title(), l.count())}
	var cursor *field.Cursor
	if text, x := l.inputLine(th, width); text != "" && height > 1 {
		lines = append(lines, text)
		if x >= 0 {
			cursor = &field.Cursor{X: x, Y: 1}
		}
	}
	var end []string
	if height >= hintsFrom {
		end = l.foot(th, width, height)
		height -= len(end)
	}
	lines = append(lines, l.body(th, width, height-len(lines))...)
	return append(lines, end...), cursor
}

func (l *List) title() string {
	title := display.Line(l.cfg.Title)
	if l.scope < len(l.cfg.Scopes) {
		title += " · " + display.Line(l.cfg.Scopes[l.scope])
	}
	return title
}

// count says how many items there are and match.
func (l *List) count() string {
	picked := ""
	if n := len(l.picked); n > 0 {
		picked = fmt.Sprintf("%d picked, ", n)
	}
	switch n := len(l.items); {
	case n == 0:
		return ""
	case len(l.shown) == n:
		return fmt.Sprintf("%s%d", picked, n)
	default:
		return fmt.Sprintf("%s%d of %d", picked, len(l.shown), n)
	}
}

// inputLine is the line below the title, "" when there is none; x is -1 without a
// cursor.
func (l *List) inputLine(th *theme.Theme, width int) (text string, x int) {
	typed := func(label string, f *field.Field) (string, int) {
		n := cell.Width(label)
		line, x := f.Render(th, width-n)
		return cell.Cut(th.Accent.On(label)+line, width, ""), min(x+n, width-1)
	}
	switch {
	case l.ask == askName:
		return typed("New name: ", &l.name)
	case l.ask == askDelete:
		ask := l.cfg.Confirm
		if ask == "" {
			ask = "Delete “%s”?"
		}
		left := []row.Piece{{Text: strings.Replace(display.Line(ask), "%s", l.titleOf(l.asked), 1), Style: th.Warning}}
		return row.Line(th, width, "", left, []row.Piece{{Text: "y: yes  n: no", Style: th.Strong}}), -1
	case l.types():
		return typed("> ", &l.input)
	}
	return "", -1
}

func (l *List) titleOf(id string) string {
	for _, it := range l.items {
		if it.ID == id {
			return it.Title
		}
	}
	return ""
}

// foot is the last lines: why the item that is on cannot be picked, and hints.
func (l *List) foot(th *theme.Theme, width, height int) []string {
	switch {
	case l.problem != "":
		return []string{row.Line(th, width, "", []row.Piece{{Text: l.problem, Style: th.Error}}, nil)}
	case l.disabled() != "":
		return l.whyNot(th, width, height/3)
	case l.cfg.Keys != nil:
		return []string{row.Hints(th, width, l.hints(width))}
	}
	return nil
}

// whyNot says why the item that is on cannot be picked, in at most so many lines, and names what
// else can be done. A reason that is the title is said where the row does not show it whole.
func (l *List) whyNot(th *theme.Theme, width, most int) []string {
	why, hints := l.disabled(), row.Hints(th, width, l.hints(width))
	if it := l.items[l.shown[l.on]]; why == it.Title && cell.Width("  "+it.Mark+" "+why) <= width {
		return []string{hints}
	}
	if cell.Width(why)+2+cell.Width(hints) <= width {
		return []string{th.Warning.On(why) + "  " + hints}
	}
	var lines []string
	for i, text := range cell.Wrap(why, width) {
		if i == most {
			lines[i-1] = cell.Cut(lines[i-1], max(0, width-cell.Width(th.Box.Ellipsis)), "") + th.Warning.On(th.Box.Ellipsis)
			break
		}
		lines = append(lines, th.Warning.On(text))
	}
	return append(lines, hints)
}

// disabled returns why the item that is on cannot be picked, "" where it can.
func (l *List) disabled() string {
	if l.on >= len(l.shown) {
		return ""
	}
	return l.items[l.shown[l.on]].Disabled
}

// hints says what can be done now.
func (l *List) hints(width int) []row.Hint {
	word := cmp.Or(l.cfg.DeleteWord, "delete")
	switch l.ask {
	case askName:
		return row.HintsOf(l.cfg.Keys, row.Doing{Action: keymap.ListPick, Text: "rename"}, row.Doing{Action: keymap.ListClose, Text: "leave it"})
	case askDelete:
		return row.HintsOf(l.cfg.Keys, row.Doing{Action: keymap.ListPick, Text: word}, row.Doing{Action: keymap.ListClose, Text: "leave it"})
	}
	var doing []row.Doing
	if l.ID() != "" && l.disabled() == "" {
		doing = append(doing, row.Doing{Action: keymap.ListPick, Text: cmp.Or(l.cfg.PickWord, "choose")})
	}
	add := func(can Can, a keymap.Action, text string) {
		if can == 0 || l.can(can) {
			doing = append(doing, row.Doing{Action: a, Text: text})
		}
	}
	add(Multi, keymap.ListMark, "mark")
	if _, beside := columns(width); beside == 0 {
		add(Preview, keymap.ListPreview, "look")
	}
	if n := len(l.cfg.Scopes); n > 1 {
		add(0, keymap.ListScope, display.Line(l.cfg.Scopes[(l.scope+1)%n]))
	}
	add(Edit, keymap.ListEdit, "edit")
	add(Reorder, keymap.ListMoveUp, "up")
	add(Reorder, keymap.ListMoveDown, "down")
	add(Rename, keymap.ListRename, "rename")
	add(Delete, keymap.ListDelete, word)
	closes := "close"
	if l.input.Text() != "" && !l.look { // see Do
		closes = "clear"
	}
	add(0, keymap.ListClose, closes)
	return row.HintsOf(l.cfg.Keys, doing...)
}

// body draws the rows, with the preview beside them or in their place.
func (l *List) body(th *theme.Theme, width, height int) []string {
	if height < 1 {
		return nil
	}
	if len(l.shown) == 0 {
		return []string{row.Line(th, width, "", []row.Piece{{Text: l.emptyText(th), Style: th.Dim}}, nil)}
	}
	left, right := columns(width)
	if l.cfg.Can&Preview == 0 {
		left, right = width, 0
	}
	if l.look && right == 0 {
		lines := l.preview(th, width)
		l.lookFrom = max(0, min(l.lookFrom, len(lines)-height))
		l.seen = height
		return fit(lines[l.lookFrom:], height)
	}
	rows := l.rows(th, left, height)
	if right == 0 {
		return rows
	}
	look := l.preview(th, right)
	l.lookFrom = max(0, min(l.lookFrom, len(look)-height))
	look = fit(look[l.lookFrom:], height)
	lines := make([]string, max(len(rows), len(look)))
	for i := range lines {
		a, b := "", ""
		if i < len(rows) {
			a = rows[i]
		}
		if i < len(look) {
			b = look[i]
		}
		lines[i] = cell.Pad(a, left) + " " + th.Border.On(th.Box.Vertical) + " " + b
	}
	return lines
}

func fit(lines []string, n int) []string { return lines[:min(len(lines), n)] }

func (l *List) emptyText(th *theme.Theme) string {
	switch {
	case l.problem != "":
		return l.problem
	case l.loading:
		return "Loading" + th.Box.Ellipsis
	case l.input.Text() != "":
		return "Nothing matches what is typed."
	case l.cfg.Empty != "":
		return display.Line(l.cfg.Empty)
	}
	return "There is nothing here."
}

// preview returns the lines of the preview of the item that is on.
func (l *List) preview(th *theme.Theme, width int) []string {
	lines, ok := l.previews.Get(l.ID())
	if !ok {
		return []string{th.Dim.On(cell.Cut("Loading"+th.Box.Ellipsis, width, ""))}
	}
	if len(lines) == 0 {
		return []string{th.Dim.On(cell.Cut("There is nothing to look at.", width, th.Box.Ellipsis))}
	}
	out := make([]string, len(lines))
	for i, s := range lines {
		out[i] = cell.Cut(s, width, th.Box.Ellipsis)
	}
	return out
}

// rows draws the items that are seen, with the headings of their groups.
func (l *List) rows(th *theme.Theme, width, height int) []string {
	per := 1
	if l.cfg.TwoLines && height >= 2 {
		per = 2
	}
	// The line at which each item begins is counted, not drawn. Without groups it
	// follows from its place.
	start := func(i int) int { return i * per }
	total := len(l.shown) * per
	if l.grouped {
		l.starts = l.starts[:0]
		at, group := 0, ""
		for _, i := range l.shown {
			if g := l.items[i].Group; g != group {
				group = g
				at++
			}
			l.starts = append(l.starts, at)
			at += per
		}
		total = at
		start = func(i int) int { return l.starts[i] }
	}
	on := start(l.on)
	top := on
	if l.grouped && height > per && (l.on == 0 || start(l.on-1)+per < on) && on > 0 {
		top-- // the heading of a group is seen with its first item
	}
	l.first = row.Window(l.first, min(on+per-1, total-1), height, total)
	l.first = row.Window(l.first, top, height, total)
	l.seen = max(1, height/per)

	var lines []string
	i := l.first / (per + 1) // not after the first item that is seen, also with headings
	if !l.grouped {
		i = l.first / per
	}
	for ; i < len(l.shown) && start(i) < l.first+height; i++ {
		it := &l.items[l.shown[i]]
		at := start(i)
		if l.grouped && (i == 0 || start(i-1)+per < at) && at-1 >= l.first {
			lines = append(lines, row.Line(th, width, "", []row.Piece{{Text: it.Group, Style: th.Heading}}, nil))
		}
		if at+per <= l.first {
			continue
		}
		for k, s := range l.item(th, width, it, i == l.on, per) {
			if at+k >= l.first && len(lines) < height {
				lines = append(lines, s)
			}
		}
	}
	return fit(lines, height)
}

// item draws an item: per lines.
func (l *List) item(th *theme.Theme, width int, it *Item, on bool, per int) []string {
	base := theme.Style("")
	pointer := "  "
	if on {
		base = th.Selected
		pointer = cell.Pad(th.Box.Arrow, 2)
	}
	left := []row.Piece{{Text: pointer, Style: th.Accent}}
	if l.cfg.Can&Multi != 0 {
		mark := "[ ] "
		if l.picked[it.ID] {
			mark = "[x] "
		}
		left = append(left, row.Piece{Text: mark, Style: th.Accent})
	}
	indent := row.Width(left)
	if it.Mark != "" {
		left = append(left, row.Piece{Text: it.Mark + " ", Style: tone(th, it.Tone)})
	}
	text := th.Text
	if it.Disabled != "" {
		text = th.Dim
	}
	if s := th.Agent(it.Color); s != "" {
		text = s
	}
	left = append(left, highlight(th, l.query, it.Title, text)...)
	detail := snippet(th, it)
	if detail == nil && it.Detail != "" {
		detail = highlight(th, l.query, it.Detail, th.Dim)
	}
	var right []row.Piece
	if it.Right != "" {
		right = []row.Piece{{Text: it.Right, Style: th.Dim}}
	}
	if per == 1 {
		if it.Snippet != nil { // what was found matters more than where
			left = row.Cut(th, left, max(width/3, indent+8))
			detail = around(th, it, detail, width-row.Width(left)-row.Width(right)-3)
		}
		if detail != nil {
			left = append(append(left, row.Piece{Text: "  "}), detail...)
		}
		return []string{row.Line(th, width, base, left, right)}
	}
	below := append([]row.Piece{{Text: strings.Repeat(" ", indent+2)}}, detail...)
	return []string{row.Line(th, width, base, left, right), row.Line(th, width, base, below, nil)}
}

func tone(th *theme.Theme, t Tone) theme.Style {
	switch t {
	case Good:
		return th.Success
	case Active:
		return th.Accent
	case Bad:
		return th.Error
	case Warn:
		return th.Warning
	}
	return th.Dim
}

// snippet returns the place that a search found.
func snippet(th *theme.Theme, it *Item) []row.Piece {
	var pieces []row.Piece
	for _, p := range it.Snippet {
		style := th.Dim
		if p.Match {
			style = th.Match
		}
		pieces = append(pieces, row.Piece{Text: p.Text, Style: style})
	}
	return pieces
}

// around leaves out the beginning of a snippet where what was found would not be seen in
// so many cells.
func around(th *theme.Theme, it *Item, pieces []row.Piece, cells int) []row.Piece {
	i := slices.IndexFunc(it.Snippet, func(p protocol.SnippetPart) bool { return p.Match })
	if i < 0 {
		return pieces
	}
	before := row.Width(pieces[:i])
	spare := cells - cell.Width(pieces[i].Text)
	if before <= spare {
		return pieces
	}
	rest := ""
	for _, p := range pieces[:i] {
		rest += p.Text
	}
	rest = cell.CutLeft(rest, before-max(1, spare/2)+1, th.Box.Ellipsis)
	return append([]row.Piece{{Text: rest, Style: th.Dim}}, pieces[i:]...)
}

// highlight returns a text with the letters that were looked for marked.
func highlight(th *theme.Theme, q fuzzy.Query, text string, style theme.Style) []row.Piece {
	if q.Empty() {
		return []row.Piece{{Text: text, Style: style}}
	}
	var pieces []row.Piece
	from := 0
	letters := q.Letters(text)
	for k := 0; k < len(letters); {
		i := letters[k]
		end := i + 1
		for k++; k < len(letters) && letters[k] == end; k++ {
			end++
		}
		if i > from {
			pieces = append(pieces, row.Piece{Text: text[from:i], Style: style})
		}
		pieces = append(pieces, row.Piece{Text: text[i:end], Style: style.With(th.Match)})
		from = end
	}
	if from < len(text) {
		pieces = append(pieces, row.Piece{Text: text[from:], Style: style})
	}
	return pieces
}
