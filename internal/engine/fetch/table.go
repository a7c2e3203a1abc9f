package fetch

import (
	"strings"

	"golang.org/x/net/html/atom"
)

const (
	maxTables = 16   // open at once; deeper ones are text
	maxCell   = 2000 // bytes of a cell; a table with a longer one arranges a page
)

// table is an open table. One that only arranges a page (it holds a table, or a
// very long cell, or says so) is written as text, cell by cell.
type table struct {
	outer  *table
	nested int
	parent *writer
	floor  int // open elements around the cells
	lists  int // open lists around the cells
	layout bool
	rows   [][]string
	row    []string
	size   int // bytes of the rows
	inCell bool
}

func (c *converter) beginTable(e element) {
	c.closeHeading()
	t := &table{outer: c.table, layout: e.role == "presentation" || e.role == "none" || c.plain}
	if c.table != nil {
		c.asLayout()
		t.nested = c.table.nested + 1
	}
	if t.nested >= maxTables {
		return
	}
	c.blockStart(2)
	t.parent, t.floor, t.lists = c.w, len(c.open), len(c.lists)
	c.table = t
}

// asLayout writes the current table as text from here on.
func (c *converter) asLayout() {
	t := c.table
	if t.layout {
		return
	}
	t.layout = true
	current := ""
	if t.inCell {
		c.breakMarks()
		current = strings.TrimSpace(c.w.b.String())
		t.parent.in = append(t.parent.in, c.w.in...) // what is open stays open
		c.w = t.parent
	}
	rows := t.rows
	if len(t.row) > 0 {
		rows = append(rows, t.row)
	}
	for _, row := range rows {
		t.parent.block(2)
		for _, cell := range row {
			t.parent.lines(cell)
		}
	}
	if current != "" {
		t.parent.block(1)
		t.parent.lines(current)
	}
	t.rows, t.row = nil, nil
}

func (c *converter) tablePart(tag atom.Atom) {
	t := c.table
	if t == nil {
		c.blockStart(1)
		return
	}
	c.endCell()
	if tag == atom.Tr {
		c.endRow()
		if t.layout {
			c.blockStart(1)
		}
		return
	}
	t.inCell = true
	if t.layout {
		if c.plain {
			c.w.space = c.w.line
		} else {
			c.blockStart(1)
		}
		return
	}
	c.breakMarks()
	c.w = c.newWriter(true)
	c.w.limit = t.parent.limit - t.parent.b.Len() - t.size
}

func (c *converter) endCell() {
	t := c.table
	if t == nil || !t.inCell {
		return
	}
	// What was opened in the cell ends with it.
	for i := len(c.open) - 1; i >= t.floor; i-- {
		if k := c.open[i]; (k == atom.Li || k == atom.Blockquote) && len(c.w.in) > 0 {
			c.w.in = c.w.in[:len(c.w.in)-1]
		}
	}
	c.open = c.open[:min(len(c.open), t.floor)]
	c.lists = c.lists[:min(len(c.lists), t.lists)]
	c.breakMarks()
	c.w.lead = ""
	if t.layout {
		t.inCell = false
		return
	}
	text := strings.TrimSpace(c.w.b.String())
	if len(text) > maxCell {
		c.asLayout()
		t.inCell = false
		return
	}
	t.inCell = false
	c.w = t.parent
	text = strings.ReplaceAll(text, "|", `\|`)
	t.row = append(t.row, text)
	t.size += len(text) + 3
}

func (c *converter) endRow() {
	t := c.table
	if len(t.row) > 0 {
		t.rows = append(t.rows, t.row)
		t.row = nil
		t.size += 4
	}
}

// endTable writes the current table.
func (c *converter) endTable() {
	t := c.table
	if t == nil {
		c.blockStart(2)
		return
	}
	c.endCell()
	c.endRow()
	c.table = t.outer
	c.w = t.parent
	c.w.block(2)
	if t.layout {
		return
	}
	columns := 0
	for _, row := range t.rows {
		columns = max(columns, len(row))
	}
	if columns <= 1 {
		for _, row := range t.rows {
			c.w.block(1)
			c.w.lines(row[0])
		}
		c.w.block(2)
		return
	}
	for i, row := range t.rows {
		c.w.lines("| " + strings.Join(row, " | ") + " |")
		if i == 0 {
			for len(row) < columns && len(row) < 64 {
				row = append(row, "")
			}
			c.w.lines("|" + strings.Repeat(" --- |", len(row)))
		}
	}
	c.w.block(2)
}
