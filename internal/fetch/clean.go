package fetch

import (
	"strings"
	"unicode/utf8"
)

// clean takes out what nobody sees or what a terminal obeys: control characters
// but for tab and newline, marks that turn the direction of writing, and
// characters without width that can carry hidden text (tags of Unicode, U+E0000
// and on). Line endings become newlines. Joiners and variation selectors stay:
// scripts and emoji need them.
func clean(s string) string {
	if !strings.ContainsFunc(s, unseen) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r':
			if i+1 >= len(s) || s[i+1] != '\n' {
				b.WriteByte('\n')
			}
		case !unseen(r):
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r < 0xad:
		return false
	case r == 0xad, r == 0x061c, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// oneLine gives a text in one line of at most n characters, cleaned.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	count := 0
	for i := range s {
		if count++; count > n {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}
