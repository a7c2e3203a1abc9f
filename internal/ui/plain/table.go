package plain

import (
	"io"
	"strings"

	"scorel/internal/text/cell"
	"scorel/protocol/display"
)

// gap is how many blanks are between two columns of a table.
const gap = 2

// Table writes rows below each other, their cells in columns. A cell may be any text: it
// is shown on one line, as [display.Line] has it, after the blanks that it begins with.
func Table(out io.Writer, rows [][]string) error {
	safe := make([][]string, len(rows))
	for r, cells := range rows {
		safe[r] = make([]string, len(cells))
		for i, c := range cells {
			indent := c[:len(c)-len(strings.TrimLeft(c, " "))]
			safe[r][i] = indent + display.Line(c[len(indent):])
		}
	}
	for _, line := range Columns(safe) {
		if _, err := io.WriteString(out, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// Columns returns rows of cells as lines, one for each row, with the cells in columns. The
// last cell of a row is as long as it is and widens no column. Cells are taken as they
// are: whoever calls it has made them safe.
func Columns(rows [][]string) []string {
	var widths []int
	for _, cells := range rows {
		for i := range len(cells) - 1 {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cell.Width(cells[i]))
		}
	}
	lines := make([]string, len(rows))
	for r, cells := range rows {
		var b strings.Builder
		for i, c := range cells {
			b.WriteString(c)
			if i < len(cells)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]+gap-cell.Width(c)))
			}
		}
		lines[r] = b.String()
	}
	return lines
}
