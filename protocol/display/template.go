package display

import (
	"strconv"
	"strings"
	"time"

	"scorel/protocol"
)

// data returns the item of an event whose display is data. It is the twin of itemOf in
// web/src/display/item.ts; both are held against web/src/display/cases.json.
func data(b protocol.Body, d *protocol.Display) Item {
	item := Item{Kind: d.Kind}
	if d.Kind == Hidden {
		return item
	}
	if d.Title != "" {
		item.Title = template{b, Line}.fill(d.Title)
	}
	switch {
	case d.Text != "":
		item.Text = template{b, Text}.fill(d.Text)
	case len(d.Lines) > 0:
		var lines []string
		for _, l := range d.Lines {
			if l = (template{b, Line}).fill(l); l != "" {
				lines = append(lines, l)
			}
		}
		item.Text = strings.Join(lines, "\n")
	}
	if d.HideEmpty && item.Title == "" && item.Text == "" {
		return Item{Kind: Hidden}
	}
	for _, c := range d.Status {
		if c.If == "" || holds(b, c.If) {
			item.Status = c.Status
			break
		}
	}
	if d.Ref != "" {
		item.Ref = protocol.EventID(protocol.MemberOf(b, d.Ref).Text)
	}
	item.ToolCallID = line(b, d.ToolCallID)
	item.ToolName = line(b, d.ToolName)
	item.ID = line(b, d.ID)
	return item
}

func line(b protocol.Body, path string) string {
	if path == "" {
		return ""
	}
	return Line(protocol.MemberOf(b, path).Text)
}

// template fills templates, whose form [protocol.Display] describes.
type template struct {
	body protocol.Body
	safe func(string) string // makes a value safe to show
}

func (t template) fill(text string) string {
	if n := len(text) - 1; n > 0 && text[0] == '{' && strings.IndexByte(text, '}') == n && !strings.ContainsAny(text, "?!+|") {
		return t.value(protocol.MemberOf(t.body, text[1:n])) // a long text is not copied
	}
	var out strings.Builder
	out.Grow(len(text))
	t.append(&out, text)
	return out.String()
}

func (t template) append(out *strings.Builder, text string) {
	for {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			out.WriteString(text)
			return
		}
		out.WriteString(text[:open])
		end := closing(text, open)
		if end < 0 {
			return // a test holds that no spec has such a template
		}
		t.part(out, text[open+1:end])
		text = text[end+1:]
	}
}

// closing returns the index of the brace that closes the one at open, -1 without one.
func closing(text string, open int) int {
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// part fills what is between two braces.
func (t template) part(out *strings.Builder, part string) {
	if part == "" {
		return
	}
	if strings.IndexByte("?!+", part[0]) >= 0 {
		if condition, then, ok := strings.Cut(part, ":"); ok && holds(t.body, condition) {
			t.append(out, then)
		}
		return
	}
	path, filter, _ := strings.Cut(part, "|")
	m := protocol.MemberOf(t.body, path)
	name, word, _ := strings.Cut(filter, ":")
	switch name {
	case "count":
		out.WriteString(thousands(int(m.Number)))
	case "duration":
		out.WriteString(duration(m.Number))
	case "plural":
		out.WriteString(thousands(int(m.Number)) + " " + word)
		if m.Number != 1 {
			out.WriteByte('s')
		}
	default:
		out.WriteString(t.value(m))
	}
}

func (t template) value(m protocol.Member) string {
	switch m.Is {
	case protocol.NumberMember:
		return strconv.FormatInt(m.Number, 10)
	case protocol.FlagMember:
		return strconv.FormatBool(m.Number != 0)
	}
	return t.safe(m.Text)
}

// holds reports whether a condition holds: ?path, !path, +path, ?path=word or !path=word.
func holds(b protocol.Body, condition string) bool {
	path, word, compared := strings.Cut(condition[1:], "=")
	m := protocol.MemberOf(b, path)
	is := !m.Empty()
	if compared {
		is = m.Is == protocol.TextMember && m.Text == word
	}
	switch condition[0] {
	case '+':
		return m.Is != protocol.MissingMember
	case '!':
		return !is
	}
	return is
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d >= time.Second {
		d = d.Round(100 * time.Millisecond)
	}
	return d.String()
}
