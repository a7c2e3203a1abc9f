package plain

import (
	"io"
	"strings"

	"scorel/internal/text/cell"
	"scorel/protocol/display"
)

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
	for _, line := range cell.Columns(safe) {
		if _, err := io.WriteString(out, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}
