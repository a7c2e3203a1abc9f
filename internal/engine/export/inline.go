package export

import (
	"slices"

	"scorel/internal/text/markdown"
	"scorel/protocol/display"
)

// tags are those of styles, and of links, from the one that is outside when several begin
// and end together.
var tags = [...]struct {
	style markdown.Style
	name  string
}{{markdown.Linked, "a"}, {markdown.Strong, "strong"}, {markdown.Emphasis, "em"}, {markdown.Struck, "del"}}

// spans renders the spans of a text, and closes what of it is open.
type spans struct {
	*renderer
	all  []markdown.Span
	open []string // tags, the innermost last
	url  string   // of the link that is open
	note bool     // in the text of an image, which is plain
}

// inline renders the marks of a text.
func (r *renderer) inline(text string) {
	s := spans{renderer: r, all: markdown.Spans(text)}
	for i := range s.all {
		s.span(i)
	}
	s.close(0)
}

func (s *spans) span(i int) {
	x := &s.all[i]
	switch x.Role {
	case markdown.ImageOpen:
		s.close(0)
		if safeURL(x.Outer) {
			s.anchor(x.Outer)
		}
		s.WriteString(`<span class="note">[picture: `)
		s.note = true
		return
	case markdown.ImageEnd:
		s.note = false
		s.WriteString(`] ` + escape(x.URL) + "</span>")
		s.close(0)
		return
	case markdown.Target:
		if i > 0 && s.all[i-1].Role == markdown.ImageEnd { // it is in the note
			return
		}
		x.Style &^= markdown.Linked
		s.begin(i)
		s.WriteString(` <span class="target">` + escape(x.Text[1:]) + "</span>")
		return
	}
	if s.note {
		s.WriteString(escape(display.Text(x.Text)))
		return
	}
	s.begin(i)
	switch {
	case x.Role == markdown.SoftBreak:
		s.WriteString("\n")
	case x.Role == markdown.HardBreak:
		s.WriteString("<br>\n")
	case x.Role == markdown.Mail:
		s.WriteString(escape(x.URL))
	case x.Style&markdown.CodeSpan != 0:
		s.WriteString("<code>" + escape(x.Text) + "</code>")
	default:
		s.WriteString(escape(display.Text(x.Text)))
	}
}

// link returns the address that a span leads to, "" for none.
func link(x *markdown.Span) string {
	if (x.Style&markdown.Linked != 0 || x.Role == markdown.Mail) && safeURL(x.URL) {
		return x.URL
	}
	return ""
}

// has reports whether a span is in a tag.
func has(x *markdown.Span, style markdown.Style) bool {
	if style == markdown.Linked {
		return link(x) != ""
	}
	return x.Style&style != 0
}

// begin closes the tags that a span is not in, and opens those that it is in: the one
// outside first that ends last.
func (s *spans) begin(i int) {
	x := &s.all[i]
	for n, name := range s.open {
		for _, t := range tags {
			if t.name == name && (!has(x, t.style) || name == "a" && link(x) != s.url) {
				s.close(n)
				s.begin(i)
				return
			}
		}
	}
	type tag struct {
		name string
		end  int // the span after it
	}
	var add []tag
	for _, t := range tags {
		if !has(x, t.style) || slices.Contains(s.open, t.name) {
			continue
		}
		end := i
		for end < len(s.all) && has(&s.all[end], t.style) && link(&s.all[end]) == link(x) || end < len(s.all) && t.name != "a" && has(&s.all[end], t.style) {
			end++
		}
		add = append(add, tag{t.name, end})
	}
	slices.SortStableFunc(add, func(a, b tag) int { return b.end - a.end })
	for _, t := range add {
		if t.name == "a" {
			s.anchor(link(x))
			continue
		}
		s.WriteString("<" + t.name + ">")
		s.open = append(s.open, t.name)
	}
}

// anchor opens a link.
func (s *spans) anchor(url string) {
	s.url = url
	s.WriteString(`<a href="` + escape(url) + `" rel="noopener noreferrer">`)
	s.open = append(s.open, "a")
}

// close closes the tags but the first n.
func (s *spans) close(n int) {
	for k := len(s.open) - 1; k >= n; k-- {
		s.WriteString("</" + s.open[k] + ">")
	}
	s.open = s.open[:n]
}
