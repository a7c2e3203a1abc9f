package terminal

import (
	"strings"

	"scorel/internal/text/markdown"
)

const (
	// maxRows bounds the rows of a table that are held: the columns of a longer one are
	// settled.
	maxRows = 32
	// minColumn is how many cells a column has at least; where there are fewer, a row is
	// shown as a list.
	minColumn = 6
)

// table is the table that is open.
type table struct {
	aligns  []byte    // l, c or r for each column
	rows    [][]*flow // those that are not drawn, the head among them
	head    []*flow   // once it is drawn
	widths  []int     // once they are settled; the first is 0 where the columns do not fit
	settled bool
}

// resize has the rows drawn in another theme and width. Of a table that is settled only
// the head is known.
func (t *table) resize(r *renderer) {
	for n, row := range append([][]*flow{t.head}, t.rows...) {
		head := n == 0 || n == 1 && !t.settled
		for i, c := range row {
			row[i] = r.cell(c.source, head)
		}
	}
	if t.settled {
		t.widths = columnWidths([][]*flow{t.head}, r.room())
	}
}

// cell reads the text of a cell.
func (r *renderer) cell(src string, head bool) *flow {
	s := r.styles()
	if head {
		s.base = s.base.With(r.th.Strong)
	}
	f := inlineFlow(src, s)
	f.source = src
	return f
}

// row adds a row to the table; when it has many its columns are settled.
func (r *renderer) row(cells []string) {
	t := &r.table
	row := make([]*flow, len(cells))
	for i, src := range cells {
		row[i] = r.cell(src, len(t.rows) == 0 && !t.settled)
	}
	if t.settled {
		r.out = append(r.out, r.under(r.rowLines(row))...)
		return
	}
	t.rows = append(t.rows, row)
	if len(t.rows) > maxRows {
		r.settle()
	}
}

// endTable draws what of the table is not drawn.
func (r *renderer) endTable() {
	if !r.table.settled {
		r.settle()
	}
	r.table = table{}
}

// settle fixes the widths of the columns and draws the rows.
func (r *renderer) settle() {
	t := &r.table
	r.gap(markdown.Table)
	t.settled, t.head = true, t.rows[0]
	t.widths = columnWidths(t.rows, r.room())
	var lines []string
	for i, row := range t.rows {
		lines = append(lines, r.rowLines(row)...)
		if i == 0 && t.widths[0] > 0 {
			lines = append(lines, r.th.Border.On(r.ruleOf(t.widths)))
		}
	}
	t.rows = nil
	r.out = append(r.out, r.under(lines)...)
	r.before = markdown.Table
}

func (r *renderer) ruleOf(widths []int) string {
	bar, cross := r.th.Box.Horizontal, "┼"
	if r.th.Plain || bar == "" {
		bar, cross = "-", "+"
	}
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat(bar, w)
	}
	return strings.Join(parts, bar+cross+bar)
}

// columnWidths fits the columns into a width; the widest give first. The first width
// is 0 when they do not fit at all.
func columnWidths(rows [][]*flow, width int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], c.natural())
		}
	}
	total := 3 * (len(widths) - 1)
	for i := range widths {
		widths[i] = max(1, widths[i])
		total += widths[i]
	}
	for total > width {
		widest, second := 0, 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		for i, w := range widths {
			if i != widest && w > second {
				second = w
			}
		}
		if widths[widest] <= minColumn {
			widths[0] = 0
			return widths
		}
		give := min(total-width, max(1, widths[widest]-max(second, minColumn)))
		widths[widest] -= give
		total -= give
	}
	return widths
}

// rowLines draws a row.
func (r *renderer) rowLines(row []*flow) []string {
	if r.table.widths[0] <= 0 {
		return r.rowList(row)
	}
	bar := r.th.Box.Vertical
	if r.th.Plain || bar == "" {
		bar = "|"
	}
	sep := " " + r.th.Border.On(bar) + " "
	cells := make([][]string, len(row))
	widths := make([][]piece, len(row))
	high := 1
	for i, c := range row {
		widths[i] = c.pieces(r.table.widths[i], true)
		for _, pc := range widths[i] {
			cells[i] = append(cells[i], c.line(pc))
		}
		high = max(high, len(cells[i]))
	}
	out := make([]string, high)
	for y := range high {
		var b strings.Builder
		for i := range row {
			if i > 0 {
				b.WriteString(sep)
			}
			text, w := "", 0
			if y < len(cells[i]) {
				text, w = cells[i][y], widths[i][y].width
			}
			free := max(0, r.table.widths[i]-w)
			left := 0
			switch r.table.aligns[i] {
			case 'r':
				left = free
			case 'c':
				left = free / 2
			}
			b.WriteString(strings.Repeat(" ", left) + text)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", free-left))
			}
		}
		out[y] = b.String()
	}
	return out
}

// rowList draws a row as "head: cell" lines, where the columns do not fit.
func (r *renderer) rowList(row []*flow) []string {
	head := r.table.head
	if len(row) > 0 && len(head) > 0 && row[0] == head[0] {
		return nil
	}
	var out []string
	for i, c := range row {
		f := &flow{}
		f.add(string(head[i].text)+": ", r.base().With(r.th.Strong), "")
		at := 0
		for _, x := range c.runs {
			f.add(string(c.text[at:x.end]), x.style, x.link)
			at = x.end
		}
		out = append(out, f.lines(r.room(), true)...)
	}
	return append(out, r.th.Border.On(r.ruleOf([]int{min(r.room(), 10)})))
}
