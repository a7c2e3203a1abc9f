package tree

import (
	"fmt"
	"strings"
	"time"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/field"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/row"
	"scorel/internal/ui/tui/theme"
	"scorel/protocol/display"
)

// Sizes of what is drawn.
const (
	hintsFrom = 8  // lines; then the last one is for hints
	railCells = 3  // of a step to the right
	textCells = 24 // at least, for the text of a row: deeper branches move no further
)

// Render draws the tree: at most height lines of at most width cells, and where the
// cursor stands, nil when nothing is typed.
func (t *Tree) Render(th *theme.Theme, width, height int) ([]string, *field.Cursor) {
	if width < 1 || height < 1 {
		return nil, nil
	}
	t.lay()
	lines := []string{row.Rule(th, width, "Tree · "+t.filter.String(), t.count())}
	var cursor *field.Cursor
	typed := func(label string, f *field.Field) {
		text, x := f.Render(th, max(1, width-cell.Width(label)))
		cursor = &field.Cursor{X: min(width-1, x+cell.Width(label)), Y: len(lines)}
		lines = append(lines, cell.Cut(th.Accent.On(label)+text, width, ""))
	}
	switch t.step {
	case naming:
		typed("Name: ", &t.label)
	case wording:
		typed("Summary: ", &t.words)
	case browse:
		if t.search.Text() != "" {
			typed("Search: ", &t.search)
		}
	}
	var below []string
	if t.step == choose {
		below = t.drawMenu(th, width)
	}
	if height >= hintsFrom && t.cfg.Keys != nil {
		below = append(below, row.Hints(th, width, t.hints()))
	}
	room := max(1, height-len(lines)-len(below))
	if len(t.rows) == 0 {
		lines = append(lines, row.Line(th, width, "", []row.Piece{{Text: t.empty(), Style: th.Dim}}, nil))
	} else {
		on := t.at()
		t.seen = room
		t.first = row.Window(t.first, on, room, len(t.rows))
		for i := t.first; i < min(len(t.rows), t.first+room); i++ {
			lines = append(lines, t.draw(th, width, &t.rows[i], i == on))
		}
	}
	lines = append(lines, below...)
	lines = lines[:min(len(lines), height)]
	if cursor != nil && cursor.Y >= len(lines) {
		cursor = nil
	}
	return lines, cursor
}

// hints says what can be done now.
func (t *Tree) hints() []row.Hint {
	switch t.step {
	case choose:
		return row.HintsOf(t.cfg.Keys, row.Doing{Action: keymap.ListPick, Text: "choose"}, row.Doing{Action: keymap.ListClose, Text: "back"})
	case naming, wording:
		return row.HintsOf(t.cfg.Keys, row.Doing{Action: keymap.ListPick, Text: "take it"}, row.Doing{Action: keymap.ListClose, Text: "leave it"})
	}
	if len(t.rows) == 0 { // there is nothing to go to
		return row.HintsOf(t.cfg.Keys, row.Doing{Action: keymap.TreeFilter, Text: "filter"}, row.Doing{Action: keymap.ListClose, Text: "close"})
	}
	return row.HintsOf(t.cfg.Keys, row.Doing{Action: keymap.ListPick, Text: "go"}, row.Doing{Action: keymap.TreeFilter, Text: "filter"},
		row.Doing{Action: keymap.TreeFold, Text: "fold"}, row.Doing{Action: keymap.TreeUnfold, Text: "unfold"}, row.Doing{Action: keymap.TreeLabel, Text: "name"},
		row.Doing{Action: keymap.TreeTimes, Text: "times"}, row.Doing{Action: keymap.ListClose, Text: "close"})
}

func (t *Tree) count() string {
	switch {
	case t.loading:
		return fmt.Sprintf("%d, loading", len(t.nodes))
	case t.cut:
		return fmt.Sprintf("the first %d", len(t.nodes))
	case t.shown < len(t.nodes):
		return fmt.Sprintf("%d of %d", t.shown, len(t.nodes))
	}
	return fmt.Sprint(len(t.nodes))
}

func (t *Tree) empty() string {
	switch {
	case t.loading:
		return "Loading"
	case len(t.nodes) == 0:
		return "Nothing was said yet."
	case t.search.Text() != "":
		return "Nothing matches what is typed."
	}
	return "Nothing passes this filter."
}

// draw draws a row.
func (t *Tree) draw(th *theme.Theme, width int, l *line, on bool) string {
	n := &t.nodes[l.node]
	base, pointer := theme.Style(""), "  "
	if on {
		base, pointer = th.Selected, cell.Pad(th.Box.Arrow, 2)
	}
	left := []row.Piece{{Text: pointer, Style: th.Accent}, {Text: rails(th, width, l), Style: th.Border}}
	switch {
	case l.more > 0:
		left = append(left, row.Piece{Text: th.Box.Folded + " ", Style: th.Accent})
	case l.head && t.follows(int(t.rowOf[l.node])):
		left = append(left, row.Piece{Text: th.Box.Unfolded + " ", Style: th.Border})
	case t.active[l.node]:
		left = append(left, row.Piece{Text: th.Box.Dot + " ", Style: th.Success})
	default:
		left = append(left, row.Piece{Text: "  "})
	}
	if label := t.labels[n.id]; label != "" {
		left = append(left, row.Piece{Text: "[" + display.Line(label) + "] ", Style: th.Warning})
	}
	name, style := looks(th, n.kind)
	if !t.active[l.node] {
		style = th.Dim
	}
	left = append(left, row.Piece{Text: name, Style: th.Dim}, row.Piece{Text: n.line(), Style: style})
	if l.more > 0 {
		left = append(left, row.Piece{Text: fmt.Sprintf("  (%d more)", l.more), Style: th.Dim})
	}
	var right []row.Piece
	if n.id == t.leaf {
		right = append(right, row.Piece{Text: "here", Style: th.Success})
	}
	if t.times && n.ts > 0 {
		text := t.clock(time.UnixMilli(n.ts))
		if len(right) > 0 {
			text = " " + text
		}
		right = append(right, row.Piece{Text: text, Style: th.Dim})
	}
	return row.Line(th, width, base, left, right)
}

// looks returns the word before a kind of event, and its style.
func looks(th *theme.Theme, k kind) (name string, style theme.Style) {
	switch k {
	case user:
		return "you: ", th.User
	case said:
		return "", th.Assistant
	case calls:
		return "calls ", th.ToolName
	case result:
		return "result of ", th.ToolOutput
	case compaction:
		return "compacted: ", th.Info
	case summary:
		return "summary of a branch: ", th.Info
	case shell:
		return "! ", th.Code
	case note:
		return "note: ", th.Dim
	}
	return "", th.Text
}

// rails draws the lines of the branches that a row is in.
func rails(th *theme.Theme, width int, l *line) string {
	depth := int(l.depth)
	if depth == 0 {
		return ""
	}
	if most := max(1, (width-textCells)/railCells); depth > most {
		return fmt.Sprintf("%*d ", max(1, most*railCells-1), depth)
	}
	if th.Plain {
		return strings.Repeat("  ", depth)
	}
	var b strings.Builder
	for d := range depth {
		switch {
		case l.head && d == depth-1 && l.tail:
			b.WriteString(cell.Pad(th.Box.LastBranch, railCells))
		case l.head && d == depth-1:
			b.WriteString(cell.Pad(th.Box.Branch, railCells))
		case d <= maxRail && l.rails&(1<<d) != 0:
			b.WriteString(cell.Pad(th.Box.Trunk, railCells))
		default:
			b.WriteString(strings.Repeat(" ", railCells))
		}
	}
	return b.String()
}

// clock returns a time: of today the hour, else the day too.
func (t *Tree) clock(at time.Time) string {
	at, now := at.In(t.cfg.Location), t.cfg.Now().In(t.cfg.Location)
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	if at.Year() == now.Year() {
		return at.Format("Jan 2 15:04")
	}
	return at.Format("2006-01-02")
}

func (t *Tree) drawMenu(th *theme.Theme, width int) []string {
	var lines []string
	for i, o := range t.menu {
		base, pointer := theme.Style(""), "  "
		if i == t.menuN {
			base, pointer = th.Selected, cell.Pad(th.Box.Arrow, 2)
		}
		lines = append(lines, row.Line(th, width, base, []row.Piece{{Text: fmt.Sprintf("%s%d. ", pointer, i+1), Style: th.Accent}, {Text: o.label, Style: th.Text}}, nil))
	}
	return lines
}
