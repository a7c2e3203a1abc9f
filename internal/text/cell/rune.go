package cell

import (
	"unicode"

	"golang.org/x/text/width"
)

// OfRune returns how many cells a terminal moves on by a single character: two for wide
// ones (UAX #11), none for those that join the one before. It is for what writes characters
// one by one, such as a line editor; the width of a text is [Width].
func OfRune(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
