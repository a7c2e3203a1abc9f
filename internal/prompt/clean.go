package prompt

import (
	"strings"
	"unicode/utf8"
)

// clean makes text from outside harmless: valid UTF-8, lines that end in \n, no
// control characters, nothing that reorders or hides what a person would see,
// and none of the marks that the program uses itself.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.TrimPrefix(s, "\ufeff")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case r < ' ' || (r >= 0x7f && r <= 0x9f): // C0, DEL, C1
			return -1
		case r == 0x200e || r == 0x200f || r == 0x061c || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069): // bidi
			return -1
		case r >= 0xe0000 && r <= 0xe007f: // tags: invisible letters
			return -1
		case r == 0x2028 || r == 0x2029:
			return '\n'
		}
		return r
	}, s)
	return escapeMarks(s)
}

// escapeMarks writes &lt; for the < of every tag, open or closed, that the
// program gives a meaning.
func escapeMarks(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '<' && mark(s[i+1:]) {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func mark(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\n/")
	for _, name := range [...]string{"system-reminder", "project-instructions", "user-instructions", "workspace-files"} {
		if len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
			return true
		}
	}
	return false
}

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
