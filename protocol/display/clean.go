package display

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"scorel/protocol"
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

// Literal is [Exact] for what is run, opened or compared as it is: a command, a path, a rule.
// Characters that prose needs and nobody sees, such as those that join an emoji or part the
// letters of a Persian word, are shown too, and so is a blank that a shell does not take for one.
func Literal(s string) string {
	if safe(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unseen(r) {
			fmt.Fprintf(&b, "[U+%04X]", r)
		} else {
			b.WriteRune(r)
		}
	}
	return Exact(b.String())
}

// Input is a text of the input of a call, the member with that name, for who decides about the
// call: [Literal] for a command and for what the rules of the tool are about, else [Exact].
func Input(tool, member, text string) string {
	if info := protocol.FindTool(tool); member == "command" || info.Rule != "" && member == info.TitleField {
		return Literal(text)
	}
	return Exact(text)
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

// unseen reports whether a character of those that [hides] leaves to prose is not seen, or looks
// like a blank: what Unicode lets a font leave out (Default_Ignorable_Code_Point), the blank of
// Braille, and the spaces but for U+0020.
func unseen(r rune) bool {
	switch {
	case r == 0x200c, r == 0x200d, r >= 0xfe00 && r <= 0xfe0f, r == 0x17b4, r == 0x17b5, r >= 0x180b && r <= 0x180f:
		return true
	case r == 0x2065, r >= 0xfff0 && r <= 0xfff8, r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a:
		return true
	}
	return r == 0x2800 || r == 0xa0 || r == 0x1680 || r >= 0x2000 && r <= 0x200a || r == 0x202f || r == 0x205f || r == 0x3000
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
