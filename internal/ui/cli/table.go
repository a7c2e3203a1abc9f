package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"scorel/protocol/display"
)

// columns prints rows below each other in columns. What stands in a cell can come from
// anywhere: each is shown on one line, as [display.Line] gives it.
func columns(out io.Writer, rows [][]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		for i, c := range cells {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			indent := c[:len(c)-len(strings.TrimLeft(c, " "))]
			fmt.Fprint(w, indent+display.Line(c[len(indent):]))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
