package plain

import (
	"fmt"
	"strconv"
	"strings"

	"scorel/protocol"
)

// Count returns a number with what it counts: "1 line", "3 lines".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// More returns the line about things of a kind that are left out after those that are
// shown: "… 1 more line", "… 3 more lines".
func More(n int, what string) string { return "… " + Count(n, "more "+what) }

// FirstLine returns the first line of a text, cut to n characters.
func FirstLine(s string, n int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// Indent indents every line of a text by two blanks and ends it with a line break; of no
// text nothing is left.
func Indent(text string) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n"
}

// IndentRest indents all lines of a text but the first by two blanks.
func IndentRest(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

// Thousands writes a number with commas.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Compacted says what a compaction has come to: a summary that is no smaller than what it
// stands for is no gain.
func Compacted(c *protocol.Compacted) string {
	sizes := fmt.Sprintf("%s → %s tokens", Thousands(c.TokensBefore), Thousands(c.TokensAfter))
	if c.TokensAfter >= c.TokensBefore {
		return "Compacted, but the summary is no smaller than what it stands for: " + sizes
	}
	return "Compacted: " + sizes
}
