package terminal

import (
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/text/markdown"
	"scorel/internal/text/style"
)

// styles are the looks of a text, by the styles of its spans.
type styles struct {
	th   *style.Theme
	base style.Style
}

func (s styles) of(x markdown.Span) style.Style {
	st := s.base
	for _, look := range [...]struct {
		style markdown.Style
		as    style.Style
	}{{markdown.Linked, s.th.Link}, {markdown.CodeSpan, s.th.Code}, {markdown.Strong, s.th.Strong}, {markdown.Emphasis, s.th.Emphasis}, {markdown.Struck, s.th.Struck}} {
		if x.Style&look.style != 0 {
			st = st.With(look.as)
		}
		if look.style == markdown.Linked && x.Role == markdown.Target {
			st = st.With(s.th.Dim)
		}
	}
	return st
}

// inlineFlow returns a text with its marks read.
func inlineFlow(src string, s styles) *flow {
	f := &flow{text: make([]byte, 0, len(src)+16)}
	for _, x := range markdown.Spans(src) {
		text := x.Text
		if x.Role == markdown.Entity {
			text = strings.ReplaceAll(cell.Clean(text), "\n", " ")
		}
		f.add(text, s.of(x), safeURL(x))
	}
	return f
}

// safeURL returns the address that a span may lead to in a terminal, "" when it is not one
// of the web or holds anything but what addresses are made of.
func safeURL(x markdown.Span) string {
	if x.Role == markdown.Mail || !markdown.WebURL(x.URL) {
		return ""
	}
	return x.URL
}
