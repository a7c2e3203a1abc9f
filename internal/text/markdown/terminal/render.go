package terminal

import (
	"strconv"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/text/highlight"
	"scorel/internal/text/markdown"
	"scorel/internal/text/style"
)

// container is a quote or an item of a list that is open.
type container struct {
	item    bool
	marker  string // of an item, with the blanks after it
	started bool   // something of it was drawn
}

// code is the block of code that is open.
type code struct {
	lang  *highlight.Language
	state highlight.State
}

// renderer draws tokens as lines of a width.
type renderer struct {
	th    *style.Theme
	width int

	stack []container
	code  code
	table table

	out    []string
	any    bool          // something was drawn
	blank  bool          // a blank line came since
	before markdown.Kind // what was drawn last
}

// fork returns a copy that can draw without changing r. It has drawn nothing.
func (r *renderer) fork() *renderer {
	c := *r
	c.stack = append([]container(nil), r.stack...)
	c.table.rows = r.table.rows[:len(r.table.rows):len(r.table.rows)]
	c.out = nil
	return &c
}

// resize sets the width and theme of what is drawn from now on.
func (r *renderer) resize(th *style.Theme, width int) {
	r.th, r.width = th, width
	r.table.resize(r)
}

// render draws tokens.
func (r *renderer) render(tokens []markdown.Token) {
	for i := range tokens {
		r.token(&tokens[i])
	}
}

func (r *renderer) token(t *markdown.Token) {
	switch t.Kind {
	case markdown.Paragraph:
		r.draw(t.Kind, r.flow([]byte(t.Text)).lines(r.room(), true))
	case markdown.Heading:
		r.heading(t)
	case markdown.Rule:
		r.rule()
	case markdown.HTML:
		f := &flow{}
		f.add(t.Text, r.styles().base.With(r.th.Dim), "")
		r.draw(t.Kind, f.lines(r.room(), true))
	case markdown.Code:
		r.code = code{}
		if t.Fenced {
			r.code.lang = highlight.Find(strings.TrimSpace(t.Text))
		}
		r.gap(t.Kind)
	case markdown.CodeLine:
		r.codeLine(t.Text)
	case markdown.CodeEnd:
		r.before = markdown.Code
	case markdown.Table:
		r.table = table{aligns: t.Aligns}
	case markdown.Row:
		r.row(t.Cells)
	case markdown.TableEnd:
		r.endTable()
	case markdown.Quote:
		r.stack = append(r.stack, container{})
	case markdown.Item:
		r.stack = append(r.stack, container{item: true, marker: r.marker(t.List)})
	case markdown.End:
		if last := &r.stack[len(r.stack)-1]; !last.started { // an item or a quote of nothing
			r.draw(markdown.Paragraph, []string{""})
		}
		r.stack = r.stack[:len(r.stack)-1]
	case markdown.Blank:
		r.blank = true
	}
}

// marker is what is before an item, with the blanks after it.
func (r *renderer) marker(i markdown.ListItem) string {
	switch {
	case i.Ordered():
		return strconv.Itoa(i.Number) + string(i.Mark) + " "
	case r.th.Box.Bullet == "":
		return "- "
	}
	return r.th.Box.Bullet + " "
}

// base returns the style of text here.
func (r *renderer) base() style.Style {
	for _, c := range r.stack {
		if !c.item {
			return r.th.Quote
		}
	}
	return r.th.Assistant
}

func (r *renderer) styles() styles { return styles{th: r.th, base: r.base()} }

// flow returns the text of a paragraph. The box of a task is drawn.
func (r *renderer) flow(text []byte) *flow {
	src := strings.TrimRight(string(text), " \n")
	box := ""
	if n := len(r.stack); n > 0 && r.stack[n-1].item && !r.stack[n-1].started && len(src) > 3 && src[0] == '[' && src[2] == ']' && src[3] == ' ' {
		switch src[1] {
		case ' ':
			box = "☐ "
			if r.th.Plain {
				box = "[ ] "
			}
		case 'x', 'X':
			box = "☑ "
			if r.th.Plain {
				box = "[x] "
			}
		}
	}
	if box == "" {
		return inlineFlow(src, r.styles())
	}
	f := &flow{}
	f.add(box, r.th.ListMark, "")
	rest := inlineFlow(src[4:], r.styles())
	at := 0
	for _, x := range rest.runs {
		f.add(string(rest.text[at:x.end]), x.style, x.link)
		at = x.end
	}
	return f
}

// room returns how many cells a line has for its text.
func (r *renderer) room() int {
	w := r.width - r.prefixWidth()
	if w < minRoom {
		return r.width
	}
	return w
}

// minRoom is how many cells text has at least; where there are fewer, what it is
// nested in is not drawn.
const minRoom = 12

func (r *renderer) prefixWidth() int {
	n := 0
	for i := range r.stack {
		n += r.stack[i].cells()
	}
	return n
}

func (c *container) cells() int {
	if c.item {
		return cell.Width(c.marker)
	}
	return 2
}

// prefix returns what is before a line, and notes that the containers have begun.
func (r *renderer) prefix() string {
	if len(r.stack) == 0 {
		return ""
	}
	draw := r.width-r.prefixWidth() >= minRoom
	var b strings.Builder
	for i := range r.stack {
		c := &r.stack[i]
		switch {
		case !draw:
		case !c.item:
			b.WriteString(r.th.Quote.On(r.bar()) + " ")
		case c.started:
			b.WriteString(strings.Repeat(" ", c.cells()))
		default:
			b.WriteString(r.th.ListMark.On(strings.TrimRight(c.marker, " ")) + " ")
		}
		c.started = true
	}
	return b.String()
}

func (r *renderer) bar() string {
	if r.th.Box.Bar == "" {
		return "|"
	}
	return r.th.Box.Bar
}

// under returns lines with what is before each of them.
func (r *renderer) under(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(r.prefix()+l, " ")
	}
	return out
}

// gap draws a blank line where one belongs before a block.
func (r *renderer) gap(k markdown.Kind) {
	apart := func(k markdown.Kind) bool { return k == markdown.Code || k == markdown.Table || k == markdown.Rule }
	if r.any && (r.blank || apart(k) || apart(r.before) || k == markdown.Heading) {
		line := ""
		for i := range r.stack {
			c := &r.stack[i]
			if !c.started {
				break
			}
			if c.item {
				line += strings.Repeat(" ", c.cells())
			} else {
				line += r.th.Quote.On(r.bar()) + " "
			}
		}
		if r.width-r.prefixWidth() < minRoom {
			line = ""
		}
		r.out = append(r.out, strings.TrimRight(line, " "))
	}
	r.any, r.blank = true, false
}

// draw draws a block.
func (r *renderer) draw(k markdown.Kind, lines []string) {
	r.gap(k)
	r.before = k
	r.out = append(r.out, r.under(lines)...)
}

func (r *renderer) heading(t *markdown.Token) {
	title, s := t.Text, r.styles()
	s.base = r.th.Heading
	if r.th.Heading == "" || r.th.Plain {
		title = strings.Repeat("#", t.Level) + " " + title
	}
	r.draw(t.Kind, inlineFlow(title, s).lines(r.room(), true))
}

func (r *renderer) rule() {
	mark := r.th.Box.Horizontal
	if mark == "" {
		mark = "-"
	}
	r.draw(markdown.Rule, []string{r.th.Rule.On(strings.Repeat(mark, min(r.room(), 40)))})
}

// codeIndent is before code, so that it is seen where it begins and ends without
// colours.
const codeIndent = "  "

// codeLine draws a line of code. One that is too long goes on in the next.
func (r *renderer) codeLine(text string) {
	l := &r.code
	f := flow{text: []byte(text)}
	at := 0
	l.state = l.lang.Scan(text, l.state, func(n int, c highlight.Class) {
		at += n
		look := r.th.CodeBlock.With(c.Style(r.th))
		if k := len(f.runs); k > 0 && f.runs[k-1].style == look {
			f.runs[k-1].end = at
			return
		}
		if n > 0 {
			f.runs = append(f.runs, run{at, look, ""})
		}
	})
	for _, line := range f.lines(r.room()-len(codeIndent), false) {
		if line != "" {
			line = codeIndent + line
		}
		r.out = append(r.out, strings.TrimRight(r.prefix()+line, " "))
	}
}
