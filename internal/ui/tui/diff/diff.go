package diff

import (
	"fmt"
	"strconv"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/text/highlight"
	"scorel/internal/ui/plain"
	"scorel/internal/ui/tui/theme"
)

// SideBySide is the width, in cells, from which the two files are beside each other.
const SideBySide = 140

// context is how many lines that are the same stand around a change; what is between
// is folded.
const context = 3

// Options say how a diff is drawn.
type Options struct {
	Width int // cells of a line at most
	// Lines bounds the lines that are given, with one that says how many are left out;
	// 0 for no bound but that of what is read.
	Lines int
	// Path names the file, for its language; "" for what the diff says.
	Path string
	// Unified keeps the two files in one column at any width.
	Unified bool
	// Numberless leaves out the numbers of lines, which the diff does not know.
	Numberless bool
	// Heads shows the names of the files even when there is only one.
	Heads bool
}

// Stat returns how many lines a diff adds and removes.
func Stat(text string) (added, removed int) {
	p := parse(text)
	return p.plus, p.minus
}

// Lines draws a diff.
func Lines(th *theme.Theme, text string, o Options) []string {
	p := parse(text)
	if o.Path == "" {
		o.Path = p.path
	}
	d := drawer{th: th, p: &p, o: o, lang: highlight.ForFile(o.Path)}
	d.o.Width = max(1, o.Width)
	d.fold()
	d.measure()
	if o.Width >= SideBySide && !o.Unified && p.plus > 0 && p.minus > 0 {
		d.twoColumns()
	} else {
		d.oneColumn()
	}
	left := p.rest + len(p.lines) - d.at
	if o.Lines > 0 && len(d.out) > o.Lines {
		left += len(d.out) - max(0, o.Lines-1)
		d.out = d.out[:max(0, o.Lines-1)]
	}
	if left > 0 {
		d.out = append(d.out, cell.Cut(th.Dim.On(plain.More(left, "line")), d.o.Width, ""))
	}
	return d.out
}

// drawer draws one diff.
type drawer struct {
	th   *theme.Theme
	p    *parsed
	o    Options
	lang *highlight.Language

	numbers   int // cells of a number, 0 when there are none
	highlight [2]highlight.State
	compared  int // words that were compared
	at        int // the line that comes next
	out       []string
}

// full says that no more lines are wanted.
func (d *drawer) full() bool { return d.o.Lines > 0 && len(d.out) > d.o.Lines }

// fold takes out lines that are the same and far from a change, and leaves a line that
// counts them.
func (d *drawer) fold() {
	lines := d.p.lines
	var out []line
	moved := map[int]int{}
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && lines[end].op == same {
			end++
		}
		head, tail := context, context
		if i == 0 || lines[i-1].op == hunk {
			head = 0
		}
		if end == len(lines) || lines[end].op == hunk || lines[end].op == file {
			tail = 0
		}
		if head == 0 && tail == 0 {
			head = context
		}
		if n := end - i; n > head+tail+1 {
			out = append(out, lines[i:i+head]...)
			out = append(out, line{op: note, text: fmt.Sprintf("… %d unchanged lines", n-head-tail), pair: -1})
			out = append(out, lines[end-tail:end]...)
		} else {
			out = append(out, lines[i:end]...)
		}
		if end < len(lines) {
			moved[end] = len(out)
			out = append(out, lines[end])
		}
		i = end + 1
	}
	for i := range out {
		if out[i].pair >= 0 {
			out[i].pair = moved[out[i].pair]
		}
	}
	d.p.lines = out
}

// measure makes room for the numbers.
func (d *drawer) measure() {
	most := 0
	for _, l := range d.p.lines {
		most = max(most, l.old, l.new)
	}
	if most > 0 && d.o.Width >= 40 && !d.o.Numberless {
		d.numbers = max(2, len(strconv.Itoa(most)))
	}
}

func (d *drawer) oneColumn() {
	for ; d.at < len(d.p.lines) && !d.full(); d.at++ {
		l := &d.p.lines[d.at]
		if d.head(l) {
			continue
		}
		n := l.new
		if l.op == removed {
			n = l.old
		}
		d.out = append(d.out, d.body(l.op, n, d.styled(d.at), d.o.Width)...)
	}
}

// head draws what is no line of a file.
func (d *drawer) head(l *line) bool {
	switch l.op {
	case file:
		d.highlight = [2]highlight.State{}
		if d.p.files > 1 || d.o.Heads {
			d.lang = highlight.ForFile(l.text)
			d.out = append(d.out, cell.Cut(d.th.Strong.On(l.text), d.o.Width, "…"))
		}
	case hunk:
		d.highlight = [2]highlight.State{}
		if len(d.out) == 0 && strings.HasPrefix(l.text, "@@ -1") {
			return true
		}
		text := l.text
		if i := strings.LastIndex(text, "@@"); i > 0 {
			text = strings.TrimSpace(text[i+2:])
		}
		if len(d.out) == 0 && text == "" {
			return true
		}
		d.out = append(d.out, cell.Cut(d.th.Hunk.On(strings.TrimSpace("⋯ "+text)), d.o.Width, "…"))
	case note:
		d.out = append(d.out, cell.Cut(d.th.Dim.On(l.text), d.o.Width, "…"))
	default:
		return false
	}
	return true
}

// style returns how a line looks, and what of it is another.
func (d *drawer) style(o op) (line, word theme.Style) {
	switch o {
	case added:
		return d.th.Added, d.th.AddedWord
	case removed:
		return d.th.Removed, d.th.RemovedWord
	}
	return d.th.Context, ""
}

// body draws a line of a file. What is too long goes on in the next.
func (d *drawer) body(o op, number int, text []piece, width int) []string {
	style, _ := d.style(o)
	gutter := ""
	if d.numbers > 0 {
		n := ""
		if number > 0 {
			n = strconv.Itoa(number)
		}
		gutter = d.th.LineNumber.On(fmt.Sprintf("%*s", d.numbers, n)) + " "
	}
	sign := style.On(string(o)) + " "
	room := width - d.numbers - 3
	if d.numbers == 0 {
		room = width - 2
	}
	if room < 4 {
		return []string{cell.Cut(style.On(string(o)), width, "")}
	}
	lines := hard(text, room)
	for k := range lines {
		if k == 0 {
			lines[k] = strings.TrimRight(gutter+sign+lines[k], " ")
		} else {
			lines[k] = strings.Repeat(" ", width-room) + lines[k]
		}
	}
	return lines
}

// piece is a part of a line with its style.
type piece struct {
	text  string
	style theme.Style
}

// styled returns a line in pieces: in the colours of its language, with what changed in
// it marked.
func (d *drawer) styled(i int) []piece {
	l := &d.p.lines[i]
	style, word := d.style(l.op)
	var marks []mark
	if l.pair >= 0 && word != "" && d.compared < maxCompared {
		other := &d.p.lines[l.pair]
		d.compared += len(l.text) + len(other.text)
		if l.op == removed {
			marks, _ = wordMarks(l.text, other.text)
		} else {
			_, marks = wordMarks(other.text, l.text)
		}
	}
	side := 0
	if l.op == added || l.op == same {
		side = 1
	}
	var out []piece
	at := 0
	st := d.lang.Scan(l.text, d.highlight[side], func(n int, c highlight.Class) {
		out = append(out, split(l.text, at, at+n, marks, style.With(c.Style(d.th)), style.With(word))...)
		at += n
	})
	out = joined(out)
	d.highlight[side] = st
	if l.op == same {
		d.highlight[0] = st
	}
	return out
}

// joined returns pieces with neighbours of one style made one.
func joined(pieces []piece) []piece {
	var out []piece
	for _, p := range pieces {
		if n := len(out); n > 0 && out[n-1].style == p.style {
			out[n-1].text += p.text
			continue
		}
		out = append(out, p)
	}
	return out
}

// split returns a part of a line in pieces, those that are marked in their own style.
func split(text string, from, to int, marks []mark, style, word theme.Style) []piece {
	var out []piece
	for _, m := range marks {
		lo, hi := max(m.from, from), min(m.to, to)
		if lo >= hi {
			continue
		}
		if lo > from {
			out = append(out, piece{text[from:lo], style})
		}
		out = append(out, piece{text[lo:hi], word})
		from = hi
	}
	if from < to {
		out = append(out, piece{text[from:to], style})
	}
	return out
}

// hard breaks pieces into lines of at most width cells.
func hard(pieces []piece, width int) []string {
	var out []string
	var b strings.Builder
	w := 0
	for _, p := range pieces {
		for p.text != "" {
			n, pw := cell.Fit(p.text, width-w)
			if n == 0 && w == 0 { // one character is wider than the line
				n, pw = len(p.text), width
			}
			if n > 0 {
				b.WriteString(p.style.On(p.text[:n]))
				w += pw
				p.text = p.text[n:]
			}
			if p.text != "" {
				out = append(out, b.String())
				b.Reset()
				w = 0
			}
		}
	}
	if b.Len() > 0 || len(out) == 0 {
		out = append(out, b.String())
	}
	return out
}

// twoColumns draws the old file beside the new one.
func (d *drawer) twoColumns() {
	half := (d.o.Width - 3) / 2
	bar := d.th.Box.Vertical
	if bar == "" || d.th.Plain {
		bar = "|"
	}
	sep := " " + d.th.Border.On(bar) + " "
	row := func(left, right []string) {
		for k := range max(len(left), len(right)) {
			l, r := "", ""
			if k < len(left) {
				l = left[k]
			}
			if k < len(right) {
				r = right[k]
			}
			d.out = append(d.out, cell.Pad(l, half)+sep+r)
		}
	}
	lines := d.p.lines
	for d.at < len(lines) && !d.full() {
		l := &lines[d.at]
		switch {
		case l.op == removed || l.op == added:
			d.change(row, half)
			continue
		case d.head(l):
		case l.op == same:
			text := d.styled(d.at)
			row(d.body(same, l.old, text, half), d.body(same, l.new, text, half))
		}
		d.at++
	}
}

// change draws a run of removed lines and the added ones after it: those that stand for
// each other side by side.
func (d *drawer) change(row func(left, right []string), half int) {
	lines := d.p.lines
	mid := d.at
	for mid < len(lines) && lines[mid].op == removed {
		mid++
	}
	end := mid
	for end < len(lines) && lines[end].op == added {
		end++
	}
	left := func(i int) []string { return d.body(removed, lines[i].old, d.styled(i), half) }
	right := func(i int) []string { return d.body(added, lines[i].new, d.styled(i), half) }
	k := mid
	for i := d.at; i < mid; i++ {
		to := lines[i].pair
		if to < 0 {
			row(left(i), nil)
			continue
		}
		for ; k < to; k++ {
			row(nil, right(k))
		}
		row(left(i), right(k))
		k++
	}
	for ; k < end; k++ {
		row(nil, right(k))
	}
	d.at = end
}
