package display

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text makes text safe to show, and hides nothing that has been written: colours and other
// control sequences of numbers are taken out; what begins any other one, and characters that
// reorder or hide text, are shown as [U+001B], [U+202E]; other control characters are taken
// out except tab and newline; line ends become \n.
func Text(s string) string {
	if safe(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b, r == 0x9b:
			whole := 0
			if r == 0x1b {
				whole = sequence(s[i:], n)
			} else {
				whole = control(s[i:], n)
			}
			if whole == 0 {
				fmt.Fprintf(&b, "[U+%04X]", r)
			}
			n = max(n, whole)
		case r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f: // they begin strings that terminals do not show
			fmt.Fprintf(&b, "[U+%04X]", r)
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

// Exact is [Text] for who decides about it, such as a command: no control sequence is taken
// out, because what hides in one would run too, and other control characters are shown.
func Exact(s string) string {
	if safe(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r >= 0x7f && r <= 0x9f && r != 0x85 {
			fmt.Fprintf(&b, "[U+%04X]", r)
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return Text(b.String())
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
// carries letters: bidirectional controls, tags, fillers, and the like.
func hides(r rune) bool {
	switch {
	case r == 0x200e, r == 0x200f, r == 0x061c, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x206f:
		return true
	case r == 0x200b, r >= 0x2060 && r <= 0x2064, r == 0xfeff, r == 0x00ad, r == 0x034f, r == 0x180e, r >= 0xfff9 && r <= 0xfffb:
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // fillers of Hangul
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// sequence returns the length of the escape sequence in front of s, whose introducer is at at,
// 0 for one that is shown: only what can say nothing to a person is taken out whole, which is
// a control sequence with numbers, and the choice of a character set (tput sgr0).
func sequence(s string, at int) int {
	rest := s[at:]
	switch {
	case strings.HasPrefix(rest, "["):
		return control(s, at+1)
	case strings.HasPrefix(rest, "(B"), strings.HasPrefix(rest, "(0"), strings.HasPrefix(rest, ")B"), strings.HasPrefix(rest, ")0"):
		return at + 2
	}
	return 0
}

// control returns the length of a control sequence whose parameters begin at at, 0 for one that
// has more than numbers, ends with no letter, or does not end: that could hide text, also from
// who decides about a command. A semicolon is between digits: a shell takes it for the end of
// a command.
func control(s string, at int) int {
	end := at
	for ; end < len(s) && end-at < maxParameters; end++ {
		switch c := s[end]; {
		case digit(c), c == ':', c == '?' && end == at:
		case c == ';' && digit(s[end-1]) && end+1 < len(s) && digit(s[end+1]):
		default:
			if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
				return end + 1
			}
			return 0
		}
	}
	return 0
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// maxParameters bounds the parameters of a control sequence that is taken out, in bytes.
const maxParameters = 64
