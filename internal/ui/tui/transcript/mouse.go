package transcript

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol/display"
)

// doubleClick is how soon a second press at a place takes the word there.
const doubleClick = 400 * time.Millisecond

// spot is a cell of an item: its line is counted without the blank one before the item.
type spot struct {
	it         *item
	line, cell int
}

// grip is what the mouse holds: text from one spot through another.
type grip struct {
	from, to spot
	row      int  // that was pressed
	down     bool // the button is
	some     bool // text is held
	moved    bool // by dragging, after the press
	followed bool // the end was, when the text began to be held
	at       time.Time
}

// Press begins to hold text at a row and a column of the last View; a second time at the
// same place, the word there.
func (t *Transcript) Press(row, column int) {
	v, now := &t.view, t.cfg.Now()
	last := v.grip
	s := t.spotAt(row, column)
	v.grip = grip{from: s, to: s, row: row, down: true, followed: v.bottom, at: now}
	if s.it != nil && s == last.from && now.Sub(last.at) < doubleClick && !t.opens(s.it) {
		t.word()
	}
}

// Drag holds the text up to a row and a column. Beyond the first and the last row it
// scrolls.
func (t *Transcript) Drag(row, column int) {
	v := &t.view
	if !v.grip.down || v.grip.from.it == nil || len(v.rows) == 0 {
		return
	}
	switch { // what comes in does not move what is held
	case row < 0:
		t.scroll(-1)
	case row >= len(v.rows):
		t.scroll(1)
	}
	v.bottom = false
	v.rows = t.rowsFrom(v.top, v.height)
	v.grip.to, v.grip.some, v.grip.moved = t.spotAt(min(max(row, 0), len(v.rows)-1), column), true, true
}

// Release ends that at a row and a column: what is held is to be copied; without any, the
// press was a click, which folds or unfolds what can be. Terminals may leave out the last
// step before it.
func (t *Transcript) Release(row, column int) Outcome {
	v := &t.view
	if !v.grip.down {
		return Outcome{}
	}
	if v.grip.moved && row >= 0 && row < len(v.rows) {
		t.Drag(row, column)
	}
	v.grip.down = false
	if !v.grip.some {
		return t.click(v.grip.row)
	}
	v.bottom = v.bottom || v.grip.followed
	return Outcome{Handled: true, Copy: t.held()}
}

func (t *Transcript) click(row int) Outcome {
	v := &t.view
	switch {
	case row == len(v.rows) && !v.bottom && v.grew: // on the line that says so
		v.bottom = true
	case row < 0 || row >= len(v.rows) || !t.opens(t.items[v.rows[row].index]):
		return Outcome{}
	default:
		t.toggle(v.rows[row].index)
	}
	return Outcome{Handled: true}
}

// opens reports whether an item can be folded and unfolded.
func (t *Transcript) opens(it *item) bool {
	switch it.kind {
	case card, thinking:
		return true
	case user:
		return it.drawn.long
	case shown:
		return display.Of(it.body).Kind == display.Folded
	}
	return false
}

func (t *Transcript) spotAt(row, column int) spot {
	v := &t.view
	if row < 0 || row >= len(v.rows) || v.th == nil {
		return spot{}
	}
	r := v.rows[row]
	return spot{t.items[r.index], r.line - t.block(r.index, v.th, v.width).gap, max(0, column)}
}

// word holds the word that was pressed.
func (t *Transcript) word() {
	g := &t.view.grip
	text := ""
	if g.from.line >= 0 {
		text = plain(t.lines(g.from.it, t.view.th, t.view.width).at(g.from.line))
	}
	at, from := 0, 0 // the cell, and where its word begins
	for _, r := range text + " " {
		n := cell.Width(string(r))
		switch {
		case !unicode.IsSpace(r):
		case at > g.from.cell:
			if from <= g.from.cell {
				g.from.cell, g.to.cell, g.some = from, at-1, true
			}
			return
		default:
			from = at + n
		}
		at += n
	}
}

// cells returns which cells of a row are held; none when to is not above from.
func (t *Transcript) cells(r place, gap int, from, to held) (a, b int) {
	line := r.line - gap
	if !from.ok || line < 0 || r.index < from.index || r.index > to.index ||
		r.index == from.index && line < from.line || r.index == to.index && line > to.line {
		return 0, 0
	}
	a, b = gutter, t.view.width
	if r.index == from.index && line == from.line {
		a = max(a, from.cell)
	}
	if r.index == to.index && line == to.line {
		b = to.cell + 1
	}
	return a, b
}

// held is an end of the text that is held.
type held struct {
	index, line, cell int
	ok                bool
}

// ends returns the first and the last cell that are held.
func (t *Transcript) ends() (from, to held) {
	g := &t.view.grip
	if !g.some {
		return held{}, held{}
	}
	end := func(s spot) held {
		i := slices.Index(t.items, s.it)
		return held{i, s.line, s.cell, i >= 0}
	}
	from, to = end(g.from), end(g.to)
	if !from.ok || !to.ok {
		return held{}, held{}
	}
	if to.index < from.index || to.index == from.index && (to.line < from.line || to.line == from.line && to.cell < from.cell) {
		from, to = to, from
	}
	return from, to
}

// hold shows what is held of a line.
func hold(line string, a, b int, th *theme.Theme) string {
	if b = min(b, cell.Width(line)); a >= b || picture(line) {
		return line
	}
	return cell.Slice(line, 0, a) + cell.Reset + th.Cursor.On(plain(cell.Slice(line, a, b))) + dropCells(line, b)
}

// held returns the text that is held, without the marks before it.
func (t *Transcript) held() string {
	from, to := t.ends()
	if !from.ok {
		return ""
	}
	var lines []string
	for i := from.index; i <= to.index; i++ {
		s := t.block(i, t.view.th, t.view.width)
		for n := range s.len() {
			if n < s.gap && i == from.index {
				continue
			}
			text := ""
			if a, b := t.cells(place{i, n}, s.gap, from, to); a < b {
				text = strings.TrimRight(plain(cell.Slice(s.at(n), a, b)), " ")
			} else if n >= s.gap {
				continue
			}
			lines = append(lines, text)
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
