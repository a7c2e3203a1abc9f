package sgr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"scorel/protocol/display"
)

// maxSequence is the longest sequence that is kept, in bytes.
const maxSequence = 64

// reset ends every style.
const reset = "\x1b[m"

// hiding are the arguments that make text blink or conceal it.
var hiding = []string{"5", "6", "8"}

// Line takes all control sequences but SGR out of a line, and of those what hides text or
// makes it blink. What reorders or hides text otherwise is made visible ([display.Text]); line
// breaks and tabs become blanks.
func Line(line string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(line, "\x1b[")
		if !found {
			b.WriteString(blanks(line))
			return b.String()
		}
		b.WriteString(blanks(before))
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' })
		if end < 0 || rest[end] != 'm' || end > maxSequence {
			// Another sequence, or none: cleaning takes it out, with what belongs to it.
			next := strings.Index(rest, "\x1b[")
			if next < 0 {
				next = len(rest)
			}
			b.WriteString(blanks("\x1b[" + rest[:next]))
			line = rest[next:]
			continue
		}
		b.WriteString(allowed(rest[:end]))
		line = rest[end+1:]
	}
}

// blanks makes text safe and keeps the blanks around it.
func blanks(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(display.Text(Strip(s)))
}

// Strip takes escape sequences out with what belongs to them, as a terminal would not show it.
// What it makes is never what a person decides about: [display.Text] shows such sequences.
func Strip(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch r {
		case 0x1b:
			n = sequence(s[i:], 1)
		case 0x9b, 0x90, 0x98, 0x9d, 0x9e, 0x9f: // C1 forms
			n = control(s[i:], n, byte(r)-0x40)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
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

// allowed returns an SGR sequence without what hides text; an empty one resets.
func allowed(args string) string {
	var keep []string
	parts := strings.Split(args, ";")
	for i := 0; i < len(parts); i++ {
		p := parts[i]
		switch {
		case p == "" || p == "0" || p == "00":
			keep = append(keep, "0")
		case p == "38" || p == "48" || p == "58": // with the arguments of a colour
			n := 0
			if i+1 < len(parts) && parts[i+1] == "5" {
				n = 2
			} else if i+1 < len(parts) && parts[i+1] == "2" {
				n = 4
			}
			if n == 0 || i+n >= len(parts) {
				return joined(keep)
			}
			keep = append(keep, parts[i:i+n+1]...)
			i += n
		case slices.Contains(hiding, strings.TrimLeft(p, "0")):
		case strings.Contains(p, ":"):
			keep = append(keep, semicolons(strings.Split(p, ":"))...)
		default:
			keep = append(keep, p)
		}
	}
	return joined(keep)
}

// semicolons returns a colour or an underline that is written with colons (ISO 8613-6) as all
// terminals read it, nothing for what is neither.
func semicolons(args []string) []string {
	if slices.Contains(args[1:], "") && (len(args) != 6 || args[2] != "") { // a colour space may be left out
		return nil
	}
	switch kind, n := args[0], len(args); {
	case kind == "4" && n == 2 && args[1] == "0":
		return []string{"24"}
	case kind == "4" && n == 2:
		return []string{"4"}
	case kind != "38" && kind != "48" && kind != "58":
	case args[1] == "5" && n == 3:
		return args
	case args[1] == "2" && (n == 5 || n == 6):
		return append([]string{kind, "2"}, args[n-3:]...)
	}
	return nil
}

func joined(keep []string) string {
	if len(keep) == 0 {
		return ""
	}
	if len(keep) == 1 && keep[0] == "0" {
		return reset
	}
	return "\x1b[" + strings.Join(keep, ";") + "m"
}
