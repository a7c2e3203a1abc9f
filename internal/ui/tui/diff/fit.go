package diff

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// fit gives how many bytes of a text fit into so many cells, and how many they take.
func fit(text string, cells int) (n, width int) {
	for n < len(text) {
		if text[n] < utf8.RuneSelf && (n+1 == len(text) || text[n+1] < utf8.RuneSelf) {
			if width+1 > cells {
				return n, width
			}
			n, width = n+1, width+1
			continue
		}
		c, w := ansi.FirstGraphemeCluster(text[n:], ansi.GraphemeWidth)
		if width+w > cells {
			return n, width
		}
		n, width = n+len(c), width+w
	}
	return n, width
}
