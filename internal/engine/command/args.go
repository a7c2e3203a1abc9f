package command

import (
	"strings"
	"unicode"
)

// MaxArgs is the longest text after the name of a command in bytes, and maxWords
// how many words of it are told apart.
const (
	MaxArgs  = 256 << 10
	maxWords = 1000
)

// Words takes the text after a command's name apart as a shell would: blanks
// separate words, both kinds of quotes keep them together, a backslash keeps the
// next character (inside of double quotes only a quote or a backslash). A quote
// that does not end is an ordinary character, because people write apostrophes.
// What is behind the 1,000th word belongs to that one.
func Words(text string) []string {
	var out []string
	var word strings.Builder
	begun := false
	flush := func() {
		if begun {
			out = append(out, word.String())
			word.Reset()
			begun = false
		}
	}
	rest := []rune(text)
	for i := 0; i < len(rest); i++ {
		r := rest[i]
		switch {
		case unicode.IsSpace(r):
			if flush(); len(out) == maxWords-1 {
				if last := strings.TrimSpace(string(rest[i:])); last != "" {
					out = append(out, last)
				}
				return out
			}
			continue
		case r == '\\' && i+1 < len(rest):
			i++
			word.WriteRune(rest[i])
		case (r == '"' || r == '\'') && closes(rest[i+1:], r):
			for i++; rest[i] != r; i++ {
				if r == '"' && rest[i] == '\\' && (rest[i+1] == '"' || rest[i+1] == '\\') {
					i++
				}
				word.WriteRune(rest[i])
			}
		default:
			word.WriteRune(r)
		}
		begun = true
	}
	flush()
	return out
}

// closes reports whether a quote that was opened is closed in what follows.
func closes(rest []rune, quote rune) bool {
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == quote:
			return true
		case quote == '"' && rest[i] == '\\' && i+1 < len(rest) && (rest[i+1] == '"' || rest[i+1] == '\\'):
			i++
		}
	}
	return false
}
