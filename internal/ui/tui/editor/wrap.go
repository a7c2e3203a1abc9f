package editor

import (
	"bytes"
	"slices"
)

// layout is where the rows of the text on the screen begin, wrapped to a width.
type layout struct {
	avail int // cells of a row; a blank at its end may take one more
	rows  []int
}

// rowEnd returns where the row after that which begins at start begins; last says
// that there is none, and end is the end of the text. A row breaks after a blank or
// beside what takes several cells, else where it is full. So a row that ends inside a
// word is full, and where the word begins depends on nothing after that row.
func (e *Editor) rowEnd(start int) (end int, last bool) {
	width, at, before := 0, start, -1
	for at < len(e.text) {
		if e.text[at] == '\n' {
			return at + 1, false
		}
		n := next(e.text[at:])
		c := e.text[at : at+n]
		w := e.cells(c, e.avail)
		wide, blank := w > 1, n == 1 && c[0] == ' '
		if wide && at > start {
			before = at
		}
		if width+w > e.avail && (!blank || width > e.avail) {
			if before > start {
				return before, false
			}
			return at, false
		}
		at += n
		width += w
		if blank || wide {
			before = at
		}
		if width > e.avail {
			return at, false
		}
	}
	return len(e.text), true
}

// wrap wraps the whole text.
func (e *Editor) wrap(avail int) {
	e.avail = max(avail, 1)
	e.rows = e.wrapOn(append(e.rows[:0], 0), nil, 0)
}

// wrapOn wraps from the last of rows on, until a row begins where one of old does
// when delta is added to it: from there all is as it was.
func (e *Editor) wrapOn(rows, old []int, delta int) []int {
	for {
		at, last := e.rowEnd(rows[len(rows)-1])
		if last {
			return rows
		}
		rows = append(rows, at)
		for len(old) > 0 && old[0]+delta < at {
			old = old[1:]
		}
		if len(old) > 0 && old[0]+delta == at {
			for _, start := range old[1:] {
				rows = append(rows, start+delta)
			}
			return rows
		}
	}
}

// replaced keeps the rows right after removed bytes at at have become added ones. A
// row may take in what the next one lost, so it begins a row before.
func (e *Editor) replaced(at, removed, added int) {
	keep := max(e.rowOf(at)-1, 0) + 1
	behind, _ := slices.BinarySearch(e.rows, at+removed)
	old := slices.Clone(e.rows[max(behind, keep):])
	e.rows = e.wrapOn(e.rows[:keep], old, added-removed)
}

// rowOf returns the row in which a place is.
func (e *Editor) rowOf(pos int) int {
	i, found := slices.BinarySearch(e.rows, pos)
	if !found {
		i--
	}
	return i
}

// column returns the cell of a place in its row.
func (e *Editor) column(pos int) int {
	x := 0
	for at := e.rows[e.rowOf(pos)]; at < pos; {
		n := next(e.text[at:])
		x += e.cells(e.text[at:at+n], e.avail)
		at += n
	}
	return x
}

// at returns the place in a row that is nearest before a column.
func (e *Editor) at(row, column int) int {
	pos, end := e.rows[row], len(e.text)
	if row+1 < len(e.rows) {
		end = e.prev(e.rows[row+1]) // the line break, or the last of a row that goes on
	}
	for x := 0; pos < end; {
		n := next(e.text[pos:])
		if x += e.cells(e.text[pos:pos+n], e.avail); x > column {
			break
		}
		pos += n
	}
	return pos
}

// lineStart and lineEnd give the borders of the line that pos is in.
func (e *Editor) lineStart(pos int) int { return bytes.LastIndexByte(e.text[:pos], '\n') + 1 }

func (e *Editor) lineEnd(pos int) int {
	if i := bytes.IndexByte(e.text[pos:], '\n'); i >= 0 {
		return pos + i
	}
	return len(e.text)
}
