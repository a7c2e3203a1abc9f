package cell

import "strings"

// gap is how many blanks are between two columns of a table.
const gap = 2

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
			widths[i] = max(widths[i], Width(cells[i]))
		}
	}
	lines := make([]string, len(rows))
	for r, cells := range rows {
		var b strings.Builder
		for i, c := range cells {
			b.WriteString(c)
			if i < len(cells)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]+gap-Width(c)))
			}
		}
		lines[r] = b.String()
	}
	return lines
}
