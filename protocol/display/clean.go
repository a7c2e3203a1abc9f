package display

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text makes text safe to show. Terminal control sequences go, whole where they
// are whole; other control characters go except tab and newline; line ends
// become \n; characters that reorder or hide text are shown as [U+202E].
func Text(s string) string {
	if safe(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b:
			n = sequence(s[i:], 1)
		case r == 0x9b || r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f: // C1 forms
			n = control(s[i:], n, byte(r)-0x40)
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == '\r':
			if !strings.HasPrefix(s[i+1:], "\n") {
				b.WriteByte('\n')
			}
		case r == 0x2028 || r == 0x2029 || r == 0x85:
			b.WriteByte('\n')
		case r < ' ' || (r >= 0x7f && r <= 0x9f):
		case hides(r):
			fmt.Fprintf(&b, "[U+%04X]", r)
		case r == utf8.RuneError:
			b.WriteRune(r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Line is Text on one line.
func Line(s string) string {
	s = Text(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// safe says quickly that most text needs no change.
func safe(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

// hides reports whether a character changes the order of others, or is not seen and
// carries letters: bidirectional controls, tags, and the like.
func hides(r rune) bool {
	switch {
	case r == 0x200e, r == 0x200f, r == 0x061c, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0x200b, r == 0x2060, r == 0xfeff, r == 0x00ad, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// sequence returns the length of the escape sequence in front of s, whose
// introducer is at at.
func sequence(s string, at int) int {
	if at >= len(s) {
		return at
	}
	switch c := s[at]; {
	case c == '[' || c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		return control(s, at+1, c)
	case c >= 0x20 && c <= 0x2f: // intermediate bytes, then one final
		for at < len(s) && s[at] >= 0x20 && s[at] <= 0x2f {
			at++
		}
		if at < len(s) && s[at] >= 0x30 && s[at] <= 0x7e {
			at++
		}
		return at
	case c >= 0x30 && c <= 0x7e:
		return at + 1
	}
	return at
}

// control returns the length of a control sequence or string whose body begins at
// at. One that does not end in the same line is taken for its introducer alone,
// so that it cannot hide what follows.
func control(s string, at int, kind byte) int {
	if kind == '[' {
		end := at
		for end < len(s) && s[end] >= 0x20 && s[end] <= 0x3f {
			end++
		}
		if end < len(s) && s[end] >= 0x40 && s[end] <= 0x7e {
			return end + 1
		}
		return at
	}
	for end := at; end < len(s) && s[end] != '\n'; end++ {
		switch {
		case s[end] == 7:
			return end + 1
		case s[end] == 0x1b && end+1 < len(s) && s[end+1] == '\\':
			return end + 2
		case s[end] == 0xc2 && end+1 < len(s) && s[end+1] == 0x9c:
			return end + 2
		}
	}
	return at
}
