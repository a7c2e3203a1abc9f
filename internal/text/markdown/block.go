package markdown

import (
	"strconv"
	"strings"
)

func blank(text string) bool { return strings.Trim(text, " ") == "" }

// tabStop is how far apart tabs are, in columns.
const tabStop = 4

// spaced returns a line with blanks for the tabs that it begins with.
func spaced(text string) string {
	n := len(text) - len(strings.TrimLeft(text, " \t"))
	if !strings.Contains(text[:n], "\t") {
		return text
	}
	columns := 0
	for _, c := range text[:n] {
		if columns++; c == '\t' {
			columns += (tabStop - columns%tabStop) % tabStop
		}
	}
	return strings.Repeat(" ", columns) + text[n:]
}

// dropColumns returns a line without the n columns of blanks that it begins with; false
// when it begins with fewer. Of a tab that is cut blanks are left.
func dropColumns(text string, n int) (rest string, ok bool) {
	columns := 0
	for i := range len(text) {
		switch {
		case columns == n:
			return text[i:], true
		case columns > n:
			return strings.Repeat(" ", columns-n) + text[i:], true
		case text[i] == ' ':
			columns++
		case text[i] == '\t':
			columns += tabStop - columns%tabStop
		default:
			return text, false
		}
	}
	return strings.Repeat(" ", max(0, columns-n)), columns >= n
}

func indentOf(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }

// atx returns the level and text of a heading, level 0 for none.
func atx(body string) (int, string) {
	n := 0
	for n < len(body) && body[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n < len(body) && body[n] != ' ' {
		return 0, ""
	}
	title := strings.TrimSpace(body[n:])
	if t := strings.TrimRight(title, "#"); t == "" || strings.HasSuffix(t, " ") {
		title = strings.TrimSpace(t)
	}
	return n, title
}

// fenceOf returns the fence that a line begins a code block with, and what follows it.
func fenceOf(body string) (fence, info string) {
	c := body[0]
	if c != '`' && c != '~' {
		return "", ""
	}
	n := len(body) - len(strings.TrimLeft(body, string(c)))
	if n < 3 || c == '`' && strings.Contains(body[n:], "`") {
		return "", ""
	}
	return body[:n], body[n:]
}

func isRule(body string) bool {
	c := body[0]
	if c != '-' && c != '*' && c != '_' {
		return false
	}
	n := 0
	for i := range len(body) {
		switch body[i] {
		case c:
			n++
		case ' ':
		default:
			return false
		}
	}
	return n >= 3
}

// itemOf reads the mark of an item of a list; after is what follows it.
func itemOf(body string, indent int) (c container, after string, ok bool) {
	n := 0
	switch {
	case body[0] == '-' || body[0] == '*' || body[0] == '+':
		c.kind, n = body[0], 1
	default:
		for n < len(body) && n < 9 && body[n] >= '0' && body[n] <= '9' {
			n++
		}
		if n == 0 || n == len(body) || body[n] != '.' && body[n] != ')' {
			return c, "", false
		}
		c.number, _ = strconv.Atoi(body[:n])
		c.kind = body[n]
		n++
	}
	if n < len(body) && body[n] != ' ' {
		return c, "", false
	}
	after = body[n:]
	spaces := indentOf(after)
	if blank(after) || spaces > 4 {
		spaces = min(1, len(after))
		c.indent = indent + n + 1
	} else {
		c.indent = indent + n + spaces
	}
	c.item = true
	after = after[spaces:]
	if blank(after) {
		after = ""
	}
	return c, after, true
}

func (c container) ordered() bool { return c.kind == '.' || c.kind == ')' }

// tagged reports whether a line begins with a tag of HTML or a comment.
func tagged(body string) bool {
	if len(body) < 3 || body[0] != '<' {
		return false
	}
	rest := strings.TrimPrefix(body[1:], "/")
	if strings.HasPrefix(rest, "!--") || strings.HasPrefix(rest, "?") {
		return true
	}
	n := 0
	for n < len(rest) && (rest[n] >= 'a' && rest[n] <= 'z' || rest[n] >= 'A' && rest[n] <= 'Z' || n > 0 && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '-')) {
		n++
	}
	return n > 0 && n < len(rest) && (rest[n] == '>' || rest[n] == ' ' || rest[n] == '/')
}

// blockTag reports whether a line begins with the tag of a block of HTML, which ends a
// paragraph.
func blockTag(body string) bool {
	if !tagged(body) {
		return false
	}
	name := strings.TrimPrefix(body[1:], "/")
	if i := strings.IndexAny(name, " />"); i >= 0 {
		name = name[:i]
	}
	switch strings.ToLower(name) {
	case "details", "summary", "div", "p", "table", "thead", "tbody", "tr", "td", "th", "ul", "ol", "li", "pre", "section", "article", "header", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "html", "head", "body", "style", "script":
		return true
	}
	return false
}
