package cell

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// First returns the bytes and the width of the character that text begins with: all that
// is in its cell. Text is not empty.
func First[T string | []byte](text T) (n, width int) {
	if text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return 1, 1
	}
	c, w := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	return max(1, len(c)), w
}

// Fit returns how many bytes of a text without styles fit into so many cells, and how many
// they take.
func Fit(text string, cells int) (n, width int) {
	for n < len(text) {
		c, w := First(text[n:])
		if width+w > cells {
			return n, width
		}
		n, width = n+c, width+w
	}
	return n, width
}

// CutLeft returns a line without its first n cells, in the styles that it had there, with
// lead in front of it.
func CutLeft(line string, n int, lead string) string { return ansi.TruncateLeft(line, n, lead) }

// Slice returns the cells of a line from a up to b, in their styles.
func Slice(line string, a, b int) string { return ansi.Cut(line, a, b) }

// Plain returns a line without its styles.
func Plain(line string) string { return ansi.Strip(line) }
