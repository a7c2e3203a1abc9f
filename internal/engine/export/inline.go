package export

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// inline renders the spans of a text.
func (m *renderer) inline(s string, depth int) {
	plain := 0
	flush := func(to int) { m.WriteString(escape(s[plain:to])) }
	missing := map[string]bool{} // marks that nothing closes from here on
	for i := 0; i < len(s); {
		n := 0
		switch s[i] {
		case '\\', '`', '*', '_', '~', '[', '!', '<', 'h', '\n':
			flush(i)
			plain = i
			n = m.span(s, i, depth, missing)
		}
		if n == 0 {
			i++
			continue
		}
		i += n
		plain = i
	}
	flush(len(s))
}

// span renders the span that begins at i and gives its length, 0 for none.
func (m *renderer) span(s string, i, depth int, missing map[string]bool) int {
	rest := s[i:]
	switch c := s[i]; c {
	case '\\':
		if len(rest) > 1 && rest[1] == '\n' {
			m.WriteString("<br>\n")
			return 2
		}
		if len(rest) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|<>~\"'&/:;=?@^$%,", rest[1]) >= 0 {
			m.WriteString(escape(rest[1:2]))
			return 2
		}
	case '\n':
		if strings.HasSuffix(s[:i], "  ") {
			m.WriteString("<br>\n")
			return 1
		}
	case '`':
		return m.codeSpan(rest, missing)
	case '*', '_', '~':
		return m.emphasis(s, i, depth, missing)
	case '!':
		if strings.HasPrefix(rest, "![") {
			if text, url, n := link(rest[1:]); n > 0 {
				m.WriteString(`<span class="note">[picture: ` + escape(text) + `] ` + escape(url) + "</span>")
				return n + 1
			}
		}
	case '[':
		if text, url, n := link(rest); n > 0 && depth < maxDepth {
			m.link(text, url, depth)
			return n
		}
	case '<':
		if end := strings.IndexByte(rest[:min(len(rest), maxLinkURL)], '>'); depth < maxDepth && end > 0 && safeURL(rest[1:end]) {
			m.link(rest[1:end], rest[1:end], maxDepth)
			return end + 1
		}
	case 'h':
		if n := bareURL(s, i); n > 0 && depth < maxDepth {
			m.link(rest[:n], rest[:n], maxDepth)
			return n
		}
	}
	return 0
}

func (m *renderer) codeSpan(s string, missing map[string]bool) int {
	n := 0
	for n < len(s) && s[n] == '`' {
		n++
	}
	run := s[:n]
	if !missing[run] {
		for at := n; ; {
			k := strings.Index(s[at:], run)
			if k < 0 {
				missing[run] = true
				break
			}
			at += k
			end := at + n
			for end < len(s) && s[end] == '`' {
				end++
			}
			if end-at == n {
				code := strings.ReplaceAll(s[n:at], "\n", " ")
				if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' {
					code = code[1 : len(code)-1]
				}
				m.WriteString("<code>" + escape(code) + "</code>")
				return end
			}
			at = end
		}
	}
	m.WriteString(escape(run))
	return n
}

func (m *renderer) emphasis(s string, i, depth int, missing map[string]bool) int {
	c := s[i]
	n := 1
	for i+n < len(s) && s[i+n] == c && n < 2 {
		n++
	}
	if c == '~' && n < 2 || depth >= maxDepth {
		return 0
	}
	mark, tag := s[i:i+n], "em"
	switch {
	case c == '~':
		tag = "del"
	case n == 2:
		tag = "strong"
	}
	body := s[i+n:]
	if body == "" || isSpace(body[0]) || missing[mark] || c == '_' && i > 0 && isWord(s[:i]) {
		return 0
	}
	for at := 1; ; at++ {
		k := strings.Index(body[min(at, len(body)):], mark)
		if k < 0 {
			missing[mark] = true
			return 0
		}
		at += k
		end := at + n
		switch {
		case isSpace(body[at-1]) || body[at-1] == '\\':
		case n == 1 && (body[at-1] == c || end < len(body) && body[end] == c): // of a longer run
			for at+1 < len(body) && body[at+1] == c {
				at++
			}
		case c == '_' && end < len(body) && startsWord(body[end:]):
		default:
			m.WriteString("<" + tag + ">")
			m.inline(body[:at], depth+1)
			m.WriteString("</" + tag + ">")
			return n + end
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

func isWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
