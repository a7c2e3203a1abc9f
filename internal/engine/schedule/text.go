package schedule

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShown bounds the characters of a text that a sentence repeats.
const maxShown = 80

// show returns a text as a sentence repeats it: in quotation marks, cut, and with control
// characters written out.
func show(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxShown {
			text = text[:i] + "…"
			break
		}
	}
	return strconv.Quote(text)
}

// sentence turns a sentence of the protocol into the text of an error.
func sentence(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(r)) + strings.TrimSuffix(text[size:], ".")
}
