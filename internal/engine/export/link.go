package export

import (
	"strings"
	"unicode/utf8"
)

// safeURL reports whether a page may link to an address.
func safeURL(u string) bool {
	lower := strings.ToLower(u)
	if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") && !strings.HasPrefix(lower, "mailto:") {
		return false
	}
	for _, r := range u {
		if r <= ' ' || r == 0x7f || r == '"' || r == '<' || r == '>' || r == '\\' || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// escape writes text for an element or a quoted attribute.
func escape(s string) string {
	if !strings.ContainsAny(s, `&<>"'`) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := range len(s) {
		switch s[i] {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '"':
			b.WriteString("&#34;")
		case '\'':
			b.WriteString("&#39;")
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
