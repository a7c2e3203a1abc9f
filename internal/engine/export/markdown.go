package export

import "strings"

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
