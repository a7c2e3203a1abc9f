package promptsafe

import (
	"strings"
	"unicode/utf8"
)

// Clean takes out what nobody sees or what a terminal obeys: control characters
// but for tab and newline, marks that turn the direction of writing, and
// characters without width that can carry hidden text (tags of Unicode, U+E0000
// and on). Line endings become newlines, invalid UTF-8 becomes U+FFFD. Variation
// selectors and joiners stay, because scripts and emoji need them, but only one
// of each after a character: more of them are a way to write unseen. Cleaning
// twice changes nothing more.
func Clean(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return hidden(r) || r == utf8.RuneError }) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	// What may follow: a selector (2), a joiner (1 and more), neither (0).
	follow := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r' && strings.HasPrefix(s[i+n:], "\n"):
		case r == '\r', r == 0x2028, r == 0x2029: // the last two separate lines and paragraphs
			b.WriteByte('\n')
			follow = 0
		case unseen(r):
		case selects(r):
			if follow == 2 {
				b.WriteRune(r)
				follow = 1
			}
		case joins(r):
			if follow > 0 {
				b.WriteRune(r)
				follow = 0
			}
		default:
			b.WriteRune(r)
			if follow = 2; r == '\n' {
				follow = 0
			}
		}
		i += n
	}
	return b.String()
}

// unseen reports whether a character is taken out, or becomes a newline.
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

// selects reports whether a character chooses a form of the one before it.
func selects(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f }

// joins reports whether a character joins its neighbours, or keeps them apart.
func joins(r rune) bool { return r == 0x200c || r == 0x200d }
