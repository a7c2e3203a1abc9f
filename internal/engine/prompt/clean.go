package prompt

import (
	"strings"
	"unicode/utf8"

	"scorel/internal/text/promptsafe"
)

// clean makes text from outside harmless: nothing that steers a terminal, reorders
// or hides what a person would see, and none of the marks that the program uses
// itself.
func clean(s string) string { return promptsafe.Escape(promptsafe.Clean(s)) }

// inline makes a name fit for the middle of a line: what clean does, and no line
// breaks or quotes, at most 500 bytes.
func inline(s string) string {
	const most = 500
	s = strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\t':
			return ' '
		case '"':
			return '\''
		case '<':
			return '('
		case '>':
			return ')'
		}
		return r
	}, clean(s))
	if len(s) > most {
		n := most
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	return s
}
