package status

import (
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/text/sgr"
)

// MaxOutput bounds what a command prints for the status line, in bytes; the rest is not
// looked at.
const MaxOutput = 16 << 10

// Output makes what a command printed one line that is safe to show: its lines, trimmed,
// side by side. Of control sequences only colours and weights stay; concealed text is
// shown. It ends in the plain style. "" clears the line.
func Output(printed string) string {
	if len(printed) > MaxOutput {
		printed = printed[:MaxOutput]
	}
	var lines []string
	for l := range strings.SplitSeq(printed, "\n") {
		if l = strings.TrimSpace(sgr.Line(l)); l != "" {
			lines = append(lines, l)
		}
	}
	line := strings.Join(lines, " ")
	if cell.Width(line) == 0 {
		return ""
	}
	if i := strings.LastIndex(line, "\x1b"); i >= 0 && !strings.HasPrefix(line[i:], cell.Reset) {
		line += cell.Reset
	}
	return line
}
