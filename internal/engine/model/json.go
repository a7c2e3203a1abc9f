package model

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// replacement is U+FFFD as a JSON string holds it.
const replacement = `\ufffd`

// wellFormed returns JSON text in which each string is made of whole characters: Go's
// parser takes others, those of the vendors do not ("The request body is not valid
// JSON: no low surrogate in string"). Text that needs no change is given as it is.
func wellFormed(text string) string {
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // U+FFFD for each byte, as Go's parser gives
	}
	if !strings.Contains(text, `\u`) {
		return text
	}
	var out strings.Builder
	kept := 0
	for i := 0; i < len(text); {
		if text[i] != '\\' {
			i++
			continue
		}
		r, ok := escaped(text[i:])
		switch {
		case !ok:
			i += 2 // another escape, or none
		case !utf16.IsSurrogate(r):
			i += 6
		default:
			if low, ok := escaped(text[i+6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				i += 12
				continue
			}
			out.WriteString(text[kept:i])
			out.WriteString(replacement)
			i += 6
			kept = i
		}
	}
	if kept == 0 {
		return text
	}
	return out.String() + text[kept:]
}

// escaped reads an escape of four hex digits at the beginning of text.
func escaped(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}
