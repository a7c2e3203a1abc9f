package markdown

import "strings"

// maxColumns bounds the columns of a table; further cells are left out.
const maxColumns = 32

// cellsOf returns the cells of a row of a table.
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
func (p *Parser) delimiterRow(body string) bool {
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
	p.open(leaf{kind: Table, width: len(aligns)}, "")
	p.put(Token{Kind: Table, Aligns: aligns})
	p.row(text[i:])
	return true
}

// row puts a row of the open table.
func (p *Parser) row(text string) {
	cells := make([]string, p.leaf.width)
	copy(cells, cellsOf(text))
	p.put(Token{Kind: Row, Cells: cells})
}
