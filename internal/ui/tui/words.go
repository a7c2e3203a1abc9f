package tui

import (
	"fmt"
	"strconv"

	"scorel/internal/ui/tui/cell"
	"scorel/protocol"
	"scorel/protocol/display"
)

// counted gives a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// dollars writes what something cost, "" when that is not known.
func dollars(u protocol.Usage) string {
	if u.CostUSD == 0 {
		return ""
	}
	return fmt.Sprintf("$%.4f", u.CostUSD)
}

// line makes text safe to stand in a line.
func line(s string) string { return display.Line(s) }

// cut gives the beginning of a text, safe to stand in a line.
func cut(s string, width int) string { return cell.Cut(line(s), width, "…") }
