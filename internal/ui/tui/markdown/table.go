package markdown

import (
	"strings"

	"scorel/internal/ui/tui/theme"
)

// Bounds of a table: columns (further cells are left out), and cells that a column has
// at least; where there are fewer, a row is shown as a list.
const (
	maxColumns = 32
	minColumn  = 6
)

// cellsOf gives the cells of a row of a table.
func cellsOf(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimPrefix(row, "|")
	var cells []string
	from, tick := 0, false
	for i := 0; i < len(row); i++ {
		switch row[i] {
		case '\\':
			i++
		case '`':
			tick = !tick
		case '|':
			if tick && strings.Contains(row[i:], "`") {
				continue
			}
			cells = append(cells, strings.TrimSpace(row[from:i]))
			from, tick = i+1, false
		}
	}
	if last := strings.TrimSpace(row[from:]); last != "" || len(cells) == 0 {
		cells = append(cells, last)
	}
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, `\|`, "|")
	}
	return cells[:min(len(cells), maxColumns)]
}

// alignsOf reads the row below the head of a table, nil when it is none.
func alignsOf(row string) []byte {
	if strings.Trim(row, "|-: ") != "" || !strings.Contains(row, "-") || !strings.ContainsAny(row, "|:") {
		return nil
	}
	var aligns []byte
	for _, c := range cellsOf(row) {
		if strings.Trim(c, ":") == "" || strings.Trim(strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":"), "-") != "" {
			return nil
		}
		switch left, right := c[0] == ':', c[len(c)-1] == ':'; {
		case left && right:
			aligns = append(aligns, 'c')
		case right:
			aligns = append(aligns, 'r')
		default:
			aligns = append(aligns, 'l')
		}
	}
	return aligns
}

// delimiterRow makes a table of the last line of the open paragraph when its delimiter
// row follows. What stood before the line stays a paragraph.
func (p *parser) delimiterRow(body string) bool {
	aligns := alignsOf(body)
	if aligns == nil {
		return false
	}
	text := string(p.leaf.text)
	i := strings.LastIndexByte(text, '\n') + 1
	head := cellsOf(text[i:])
	if len(head) != len(aligns) {
		return false
	}
	if i > 0 {
		p.leaf.text = p.leaf.text[:i-1]
		p.closeLeaf()
	}
	p.open(leaf{kind: table, aligns: aligns})
	p.row(text[i:])
	return true
}

func (p *parser) cellStyles(th *theme.Theme) styles { return styles{th: th, base: p.base()} }

// row adds a row to the table; when it has many its columns are settled.
func (p *parser) row(text string) {
	l := &p.leaf
	row := make([]*flow, len(l.aligns))
	cells := cellsOf(text)
	for i := range row {
		src := ""
		if i < len(cells) {
			src = cells[i]
		}
		s := p.cellStyles(p.th)
		if len(l.rows) == 0 && l.widths == nil {
			s.base = s.base.With(p.th.Strong)
		}
		row[i] = inlineFlow(src, s)
		row[i].source = src
	}
	if l.widths != nil {
		p.out = append(p.out, p.under(p.rowLines(row, l))...)
		return
	}
	l.rows = append(l.rows, row)
	if len(l.rows) > maxRows {
		p.settle()
	}
}

// settle fixes the widths of the columns and draws the rows.
func (p *parser) settle() {
	l := &p.leaf
	p.gap(table)
	l.widths = columnWidths(l.rows, p.room())
	var lines []string
	for i, row := range l.rows {
		lines = append(lines, p.rowLines(row, l)...)
		if i == 0 && l.widths[0] > 0 {
			lines = append(lines, p.th.Border.On(p.ruleOf(l.widths)))
		}
	}
	if l.widths[0] <= 0 {
		l.rows = l.rows[:1] // the head, for what follows
	} else {
		l.rows = nil
	}
	p.out = append(p.out, p.under(lines)...)
	p.before = table
}

func (p *parser) ruleOf(widths []int) string {
	bar, cross := p.th.Box.Horizontal, "┼"
	if p.th.Plain || bar == "" {
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
func (p *parser) rowLines(row []*flow, l *leaf) []string {
	if l.widths[0] <= 0 {
		return p.rowList(row, l)
	}
	bar := p.th.Box.Vertical
	if p.th.Plain || bar == "" {
		bar = "|"
	}
	sep := " " + p.th.Border.On(bar) + " "
	cells := make([][]string, len(row))
	widths := make([][]piece, len(row))
	high := 1
	for i, c := range row {
		widths[i] = c.pieces(l.widths[i], true)
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
			free := max(0, l.widths[i]-w)
			left := 0
			switch l.aligns[i] {
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
func (p *parser) rowList(row []*flow, l *leaf) []string {
	head := l.rows[0]
	if len(row) > 0 && len(head) > 0 && row[0] == head[0] {
		return nil
	}
	var out []string
	for i, c := range row {
		f := &flow{}
		f.add(head[i].source+": ", p.base().With(p.th.Strong), "")
		at := 0
		for _, r := range c.runs {
			f.add(string(c.text[at:r.end]), r.style, r.link)
			at = r.end
		}
		out = append(out, f.lines(p.room(), true)...)
	}
	return append(out, p.th.Border.On(p.ruleOf([]int{min(p.room(), 10)})))
}
