package row

import (
	"slices"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/keymap"
	"scorel/internal/ui/tui/theme"
)

// Piece is a part of a line.
type Piece struct {
	Text  string
	Style theme.Style
}

// Width returns the cells that pieces take.
func Width(pieces []Piece) int {
	n := 0
	for _, p := range pieces {
		n += cell.Width(p.Text)
	}
	return n
}

// Line draws pieces from the left, and others at the right end, upon the style base:
// a line of at most width cells, of exactly so many when base is set or something
// is at the right. When there is not room for all, what is left is cut first, down
// to a third of the width, and then the right end.
func Line(th *theme.Theme, width int, base theme.Style, left, right []Piece) string {
	if width <= 0 {
		return ""
	}
	var b strings.Builder
	room := width
	r := Width(right)
	if r > 0 {
		if keep := min(Width(left), width/3); r > width-keep-1 {
			right, r = Cut(th, right, width-keep-1), 0
			r = Width(right)
		}
		if r > 0 {
			room = width - r - 1
		}
	}
	left = Cut(th, left, room)
	for _, p := range left {
		b.WriteString(base.With(p.Style).On(p.Text))
	}
	if r > 0 || base != "" {
		b.WriteString(base.On(strings.Repeat(" ", max(0, width-r-Width(left)))))
	}
	if r > 0 {
		for _, p := range right {
			b.WriteString(base.With(p.Style).On(p.Text))
		}
	}
	return b.String()
}

// Cut returns the pieces that fit into width cells, with the mark of something left out
// at the end of the last one.
func Cut(th *theme.Theme, pieces []Piece, width int) []Piece {
	used := 0
	for i, p := range pieces {
		n := cell.Width(p.Text)
		if used+n <= width {
			used += n
			continue
		}
		out := append([]Piece(nil), pieces[:i]...)
		if rest := cell.Cut(p.Text, width-used, th.Box.Ellipsis); rest != "" {
			return append(out, Piece{rest, p.Style})
		}
		// The mark needs a cell of the piece before.
		if i > 0 && width > 0 {
			last := &out[i-1]
			last.Text = cell.Cut(last.Text+" ", cell.Width(last.Text), th.Box.Ellipsis)
		}
		return out
	}
	return pieces
}

// Window returns the first row that is seen of total, of which height fit, so that the
// row on is among them and as little as possible moves; first is the one so far.
func Window(first, on, height, total int) int {
	if height <= 0 {
		return 0
	}
	if on < first {
		first = on
	}
	if on >= first+height {
		first = on - height + 1
	}
	return max(0, min(first, total-height))
}

// Rule draws a title in a line across the width. In a plain theme it is the title.
func Rule(th *theme.Theme, width int, title, right string) string {
	if th.Plain || th.Box.Horizontal == "" {
		return Line(th, width, "", []Piece{{title, th.Strong}}, []Piece{{right, th.Dim}})
	}
	if right != "" {
		right = " " + right + " "
	}
	left := []Piece{{th.Box.Horizontal + " ", th.Border}, {title, th.Strong}, {" ", ""}}
	left = Cut(th, left, max(0, width-cell.Width(right)-1))
	fill := width - Width(left) - cell.Width(right) - 1
	if fill > 0 {
		left = append(left, Piece{strings.Repeat(th.Box.Horizontal, fill), th.Border})
	}
	left = append(left, Piece{right, th.Dim}, Piece{th.Box.Horizontal, th.Border})
	var b strings.Builder
	for _, p := range Cut(th, left, width) {
		b.WriteString(p.Style.On(p.Text))
	}
	return b.String()
}

// Hint is a key and what it does.
type Hint struct{ Key, Text string }

// Doing is an action that is worth a hint, and what it does in a word or two.
type Doing struct {
	Action keymap.Action
	Text   string
}

// HintsOf returns the hints of actions that have a key; none without a map.
func HintsOf(keys *keymap.Map, doing ...Doing) []Hint {
	if keys == nil {
		return nil
	}
	var hints []Hint
	for _, d := range doing {
		if k := keys.Keys(d.Action); len(k) > 0 {
			hints = append(hints, Hint{k[0], d.Text})
		}
	}
	return hints
}

// Hints draws keys and what they do on one line, as many as fit whole: the first ones and the
// last, which leads away.
func Hints(th *theme.Theme, width int, hints []Hint) string {
	const gap = "  "
	long := func(h Hint) int { return cell.Width(h.Key + " " + h.Text) }
	hints = slices.DeleteFunc(slices.Clone(hints), func(h Hint) bool { return h.Key == "" })
	var last []Hint
	kept := 0
	if n := len(hints); n > 1 {
		last, hints = hints[n-1:], hints[:n-1]
		kept = long(last[0]) + len(gap)
	}
	used := 0
	for i, h := range hints {
		n := long(h)
		if i > 0 {
			n += len(gap)
		}
		if i == 0 && n+kept > width { // one of them at most: the first
			last, kept = nil, 0
		}
		if used+n+kept > width {
			hints = hints[:i]
			break
		}
		used += n
	}
	var pieces []Piece
	for _, h := range append(hints[:len(hints):len(hints)], last...) {
		if len(pieces) > 0 {
			pieces = append(pieces, Piece{gap, ""})
		}
		pieces = append(pieces, Piece{h.Key, th.Accent}, Piece{" " + h.Text, th.Dim})
	}
	return Line(th, width, "", pieces, nil)
}
