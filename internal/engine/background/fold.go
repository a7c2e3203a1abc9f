package background

import (
	"fmt"
	"strings"
)

// foldFrom is how many states of one line, divided by CR, are too many to be shown.
const foldFrom = 4

// Fold takes out of text what a terminal would have overwritten: of a line that a
// progress bar has written again and again, the first and the last state stay,
// with a count between them. Other text keeps its bytes.
func Fold(text string) string {
	if strings.Count(text, "\r") < foldFrom-1 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		first, rest, _ := strings.Cut(strings.TrimLeft(body, "\r"), "\r")
		n := strings.Count(rest, "\r")
		if n+2 < foldFrom {
			out.WriteString(line)
			continue
		}
		last := rest[strings.LastIndexByte(rest, '\r')+1:]
		fmt.Fprintf(&out, "%s\r[%d states of this line are left out]\r%s%s", first, n, last, line[len(body):])
	}
	return out.String()
}

// oneLine makes what was printed one line, so that no part of it can stand where a
// mark is missing: the last state of what was overwritten, without characters that
// end lines.
func oneLine(s string) string {
	s = strings.TrimRight(s, "\r\n")
	s = s[strings.LastIndexByte(s, '\r')+1:]
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\v', '\f', '\u0085', '\u2028', '\u2029':
			return ' '
		}
		return r
	}, s)
}
