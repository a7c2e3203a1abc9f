package export

import (
	"strings"
	"unicode/utf8"
)

// link reads [text](url) or [text](url "title") and gives its length, 0 for none.
func link(s string) (text, url string, n int) {
	depth, end := 0, 0
	for i := 0; i < min(len(s), maxLinkText) && end == 0; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				end = i
			}
		}
	}
	if end == 0 || !strings.HasPrefix(s[end:], "](") {
		return "", "", 0
	}
	rest := s[end+2:]
	rest = rest[:min(len(rest), maxLinkURL)]
	depth = 1
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				url, _, _ = strings.Cut(strings.TrimSpace(rest[:i]), " ")
				return s[1:end], strings.Trim(url, "<>"), end + 2 + i + 1
			}
		case '\n':
			return "", "", 0
		}
	}
	return "", "", 0
}

// bareURL gives the length of a URL that stands in a text, 0 for none.
func bareURL(s string, i int) int {
	rest := s[i:]
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") || i > 0 && isWord(s[:i]) {
		return 0
	}
	n := strings.IndexAny(rest[:min(len(rest), maxLinkURL)], " \n\t<>\"`|")
	if n < 0 {
		n = min(len(rest), maxLinkURL)
	}
	u := strings.TrimRight(rest[:n], ".,;:!?*_'")
	if strings.HasSuffix(u, ")") && !strings.Contains(u, "(") {
		u = strings.TrimRight(u, ")")
	}
	if !safeURL(u) || strings.HasSuffix(u, "//") {
		return 0
	}
	return len(u)
}

// link renders a link, or for an address that it may not lead to its text and
// that.
func (m *renderer) link(text, url string, depth int) {
	inner := func() {
		if depth >= maxDepth {
			m.WriteString(escape(text))
			return
		}
		m.inline(text, maxDepth) // no links inside
	}
	if !safeURL(url) {
		inner()
		m.WriteString(` <span class="target">(` + escape(url) + ")</span>")
		return
	}
	m.WriteString(`<a href="` + escape(url) + `" rel="noopener noreferrer">`)
	inner()
	m.WriteString("</a>")
	if text != url {
		m.WriteString(` <span class="target">(` + escape(url) + ")</span>")
	}
}

// safeURL says whether a page may link to an address.
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
