package export

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is rendered as Markdown. Beyond, text is shown as it is.
const (
	maxMarkdown = 128 << 10 // bytes of a text
	maxDepth    = 12        // nested quotes, lists and emphasis
	maxLinkText = 1000      // bytes
	maxLinkURL  = 2000      // bytes
)

// markdown renders text as HTML: the blocks and spans of CommonMark and the tables
// and task lists of GitHub that models write. It knows neither raw HTML, which
// comes out as text, nor reference links.
func markdown(text string) string {
	if len(text) > maxMarkdown {
		return `<p class="plain">` + escape(text) + "</p>\n"
	}
	var m renderer
	m.blocks(strings.Split(text, "\n"), 0)
	return m.String()
}

type renderer struct{ strings.Builder }

// blocks renders lines.
func (m *renderer) blocks(lines []string, depth int) {
	for len(lines) > 0 {
		line := lines[0]
		trimmed := strings.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		switch {
		case strings.TrimSpace(line) == "":
			lines = lines[1:]
		case indent >= 4 || strings.HasPrefix(line, "\t"):
			lines = m.indented(lines)
		case fenceOf(trimmed) != "":
			lines = m.fenced(lines, indent, fenceOf(trimmed))
		case headingOf(trimmed) > 0:
			m.heading(trimmed)
			lines = lines[1:]
		case isRule(trimmed):
			m.WriteString("<hr>\n")
			lines = lines[1:]
		case depth < maxDepth && trimmed[0] == '>':
			lines = m.quote(lines, depth)
		case depth < maxDepth && itemOf(line).width > 0:
			lines = m.list(lines, depth)
		case len(lines) > 1 && isTable(line, lines[1]):
			lines = m.table(lines)
		default:
			lines = m.paragraph(lines)
		}
	}
}

// begins says whether a line ends a paragraph by beginning another block.
func begins(line string) bool {
	trimmed := strings.TrimLeft(line, " ")
	if trimmed == "" {
		return true
	}
	if len(line)-len(trimmed) >= 4 {
		return false
	}
	it := itemOf(line)
	return fenceOf(trimmed) != "" || headingOf(trimmed) > 0 || isRule(trimmed) || trimmed[0] == '>' || it.width > 0 && (!it.ordered || it.number == "1")
}

func (m *renderer) paragraph(lines []string) []string {
	n := 1
	for n < len(lines) && !begins(lines[n]) {
		if n+1 < len(lines) && isTable(lines[n], lines[n+1]) {
			break
		}
		n++
	}
	m.WriteString("<p>")
	m.inline(strings.Join(trimLeft(lines[:n]), "\n"), 0)
	m.WriteString("</p>\n")
	return lines[n:]
}

func trimLeft(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimLeft(l, " \t")
	}
	return out
}

func (m *renderer) indented(lines []string) []string {
	var code []string
	n := 0
	for ; n < len(lines); n++ {
		l := lines[n]
		switch {
		case strings.HasPrefix(l, "\t"):
			code = append(code, l[1:])
		case strings.HasPrefix(l, "    "):
			code = append(code, l[4:])
		case strings.TrimSpace(l) == "":
			code = append(code, "")
		default:
			m.code(code, "")
			return lines[n:]
		}
	}
	m.code(code, "")
	return nil
}

func (m *renderer) code(lines []string, info string) {
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n")
	m.WriteString(`<pre class="code"`)
	if info != "" {
		m.WriteString(` title="` + escape(info) + `"`)
	}
	m.WriteString(`><code>` + escape(text) + "</code></pre>\n")
}

// fenceOf gives the run of characters that a fence begins with, "" for none.
func fenceOf(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n < 3 || s[0] == '`' && strings.Contains(s[n:], "`") {
		return ""
	}
	return s[:n]
}

func (m *renderer) fenced(lines []string, indent int, fence string) []string {
	info, _, _ := strings.Cut(strings.TrimSpace(strings.TrimLeft(lines[0], " ")[len(fence):]), " ")
	var code []string
	for i, l := range lines[1:] {
		t := strings.TrimLeft(l, " ")
		if f := fenceOf(t); f != "" && f[0] == fence[0] && len(f) >= len(fence) && strings.TrimSpace(t[len(f):]) == "" {
			m.code(code, info)
			return lines[i+2:]
		}
		code = append(code, l[min(indent, len(l)-len(t)):])
	}
	m.code(code, info)
	return nil
}

// headingOf gives the level of a heading, 0 for none.
func headingOf(s string) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n > 6 || n == 0 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

// heading renders a heading below those of the page.
func (m *renderer) heading(s string) {
	level := headingOf(s)
	text := strings.TrimRight(strings.TrimSpace(s[level:]), "#")
	tag := "h" + string(rune('0'+min(level+2, 6)))
	m.WriteString("<" + tag + ">")
	m.inline(strings.TrimSpace(text), 0)
	m.WriteString("</" + tag + ">\n")
}

func isRule(s string) bool {
	c, n := byte(0), 0
	for i := range len(s) {
		switch {
		case s[i] == ' ' || s[i] == '\t':
		case n == 0 && (s[i] == '-' || s[i] == '*' || s[i] == '_'):
			c, n = s[i], 1
		case n > 0 && s[i] == c:
			n++
		default:
			return false
		}
	}
	return n >= 3
}

func (m *renderer) quote(lines []string, depth int) []string {
	var inner []string
	n := 0
	for ; n < len(lines); n++ {
		t := strings.TrimLeft(lines[n], " ")
		rest, ok := strings.CutPrefix(t, ">")
		if !ok {
			if n > 0 && strings.TrimSpace(inner[n-1]) != "" && !begins(lines[n]) {
				inner = append(inner, lines[n]) // a lazy line
				continue
			}
			break
		}
		inner = append(inner, strings.TrimPrefix(rest, " "))
	}
	m.WriteString("<blockquote>\n")
	m.blocks(inner, depth+1)
	m.WriteString("</blockquote>\n")
	return lines[n:]
}

// item is the beginning of a list's item.
type item struct {
	ordered bool
	number  string
	indent  int
	width   int // of indent, mark and blank; 0: it is none
}

func itemOf(line string) item {
	t := strings.TrimLeft(line, " ")
	it := item{indent: len(line) - len(t)}
	n := 0
	switch {
	case t == "":
		return it
	case t[0] == '-' || t[0] == '*' || t[0] == '+':
		n = 1
	default:
		for n < len(t) && n < 9 && t[n] >= '0' && t[n] <= '9' {
			n++
		}
		if n == 0 || n == len(t) || t[n] != '.' && t[n] != ')' {
			return it
		}
		it.ordered, it.number = true, t[:n]
		n++
	}
	if n < len(t) && t[n] != ' ' && t[n] != '\t' {
		return it
	}
	it.width = it.indent + n + 1
	return it
}

func (m *renderer) list(lines []string, depth int) []string {
	first := itemOf(lines[0])
	tag := "ul"
	if first.ordered {
		tag = "ol"
	}
	m.WriteString("<" + tag)
	if first.ordered && first.number != "1" {
		m.WriteString(` start="` + first.number + `"`)
	}
	m.WriteString(">\n")
	for len(lines) > 0 {
		it := itemOf(lines[0])
		if it.width == 0 || it.ordered != first.ordered || it.indent > first.indent+3 || it.indent < first.indent && first.indent > 3 {
			break
		}
		body := []string{lines[0][min(it.width, len(lines[0])):]}
		n, blank := 1, false
		for ; n < len(lines); n++ {
			l := lines[n]
			t := strings.TrimLeft(l, " \t")
			in := len(l) - len(t)
			switch {
			case t == "":
				blank = true
			case in >= it.width || in >= it.indent+2 && in > first.indent && !blank, strings.HasPrefix(l, "\t"):
				blank = false
				l = l[min(in, it.width):]
				body = append(body, l)
				continue
			case blank || begins(l) || itemOf(l).width > 0:
				goto done
			default:
				body = append(body, l)
				continue
			}
			body = append(body, "")
		}
	done:
		m.item(body, depth)
		lines = lines[n:]
	}
	m.WriteString("</" + tag + ">\n")
	return lines
}

func (m *renderer) item(body []string, depth int) {
	for len(body) > 1 && strings.TrimSpace(body[len(body)-1]) == "" {
		body = body[:len(body)-1]
	}
	m.WriteString("<li>")
	switch {
	case strings.HasPrefix(body[0], "[ ] "):
		m.WriteString("☐ ")
		body[0] = body[0][4:]
	case strings.HasPrefix(body[0], "[x] "), strings.HasPrefix(body[0], "[X] "):
		m.WriteString("☑ ")
		body[0] = body[0][4:]
	}
	if len(body) == 1 && fenceOf(body[0]) == "" {
		m.inline(body[0], 0)
	} else {
		m.blocks(body, depth+1)
	}
	m.WriteString("</li>\n")
}

// isTable says whether two lines are the head of a table.
func isTable(head, rule string) bool {
	if !strings.Contains(head, "|") || !strings.Contains(rule, "-") {
		return false
	}
	for _, c := range cells(rule) {
		c = strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":")
		if c == "" || strings.Trim(c, "-") != "" {
			return false
		}
	}
	return len(cells(head)) == len(cells(rule))
}

// cells gives the cells of a row.
func cells(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimPrefix(row, "|")
	if strings.HasSuffix(row, "|") && !strings.HasSuffix(row, `\|`) {
		row = row[:len(row)-1]
	}
	var out []string
	start := 0
	for i := 0; i <= len(row); i++ {
		switch {
		case i < len(row) && row[i] == '\\':
			i++
		case i >= len(row) || row[i] == '|':
			out = append(out, strings.ReplaceAll(strings.TrimSpace(row[start:min(i, len(row))]), `\|`, "|"))
			start = i + 1
		}
	}
	return out
}

func (m *renderer) table(lines []string) []string {
	columns := len(cells(lines[0]))
	row := func(tag, line string) {
		m.WriteString("<tr>")
		all := cells(line)
		for i := range columns {
			m.WriteString("<" + tag + ">")
			if i < len(all) {
				m.inline(all[i], 0)
			}
			m.WriteString("</" + tag + ">")
		}
		m.WriteString("</tr>\n")
	}
	m.WriteString("<div class=\"wide\"><table>\n<thead>")
	row("th", lines[0])
	m.WriteString("</thead>\n<tbody>\n")
	n := 2
	for ; n < len(lines) && strings.Contains(lines[n], "|"); n++ {
		row("td", lines[n])
	}
	m.WriteString("</tbody></table></div>\n")
	return lines[n:]
}

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
