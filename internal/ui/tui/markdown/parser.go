package markdown

import (
	"strconv"
	"strings"

	"scorel/internal/ui/tui/cell"
	"scorel/internal/ui/tui/highlight"
	"scorel/internal/ui/tui/theme"
)

// leafKind says what the block is that takes lines.
type leafKind uint8

const (
	none leafKind = iota
	paragraph
	fenced
	indented
	markup // HTML, shown as it is
	table
	heading // these two are never open
	rule
)

// leaf is the block that takes lines.
type leaf struct {
	kind leafKind
	id   int    // another for each that is opened
	text []byte // of a paragraph or of HTML, its lines with \n between

	fence  string // of a code block
	indent int    // of its fence
	lang   *highlight.Language
	state  highlight.State
	blank  int // blank lines that are held back in indented code

	aligns []byte // of a table: l, c or r for each column
	rows   [][]*flow
	widths []int // once they are settled
}

// container is a quote or an item of a list that is open.
type container struct {
	item    bool
	indent  int    // of an item: blanks before its content
	marker  string // of an item, with the blanks behind it
	kind    byte   // of its list: the bullet, or the character behind the number
	number  int
	started bool // something of it was drawn
}

// parser keeps the blocks that are open and draws those that are closed.
type parser struct {
	th    *theme.Theme
	width int

	stack []container
	lists []container // the last item at each depth, for the number of the next one
	leaf  leaf
	ids   int

	out    []string
	any    bool     // something was drawn
	blank  bool     // a blank line came since
	before leafKind // what was drawn last
	trial  bool     // a fork, for what is not complete
}

// fork gives a copy that can be fed without changing p. It has drawn nothing.
func (p *parser) fork() *parser {
	c := *p
	c.stack = append([]container(nil), p.stack...)
	c.lists = append([]container(nil), p.lists...)
	c.leaf.text = p.leaf.text[:len(p.leaf.text):len(p.leaf.text)]
	c.leaf.rows = p.leaf.rows[:len(p.leaf.rows):len(p.leaf.rows)]
	c.out, c.trial = nil, true
	return &c
}

// resize sets the width and theme of what is drawn from now on.
func (p *parser) resize(th *theme.Theme, width int) {
	if p.leaf.kind == table {
		for _, row := range p.leaf.rows {
			for i, c := range row {
				row[i] = inlineFlow(c.source, p.cellStyles(th))
			}
		}
		p.leaf.widths = nil
	}
	p.th, p.width = th, width
}

// feed reads a line. With goesOn it is the rest of one that was too long.
func (p *parser) feed(text string, goesOn bool) {
	for {
		line, rest, more := strings.Cut(text, "\n")
		p.read(line, goesOn)
		if !more {
			return
		}
		text = rest
	}
}

func (p *parser) read(text string, goesOn bool) {
	pos, matched := p.match(text)
	if goesOn && p.leaf.kind == paragraph {
		p.addText(text)
		return
	}
	whole := matched == len(p.stack)
	rest := text[pos:]
	switch {
	case whole && p.leaf.kind == fenced:
		p.fencedLine(rest)
		return
	case blank(rest):
		p.blankLine(matched)
		return
	case whole && p.leaf.kind == markup:
		p.addText(rest)
		return
	case whole && p.leaf.kind == indented && indentOf(rest) >= 4:
		p.codeLines(rest[4:])
		return
	}
	lazily := !whole && p.leaf.kind == paragraph
	for {
		inText := p.leaf.kind == paragraph && len(p.leaf.text) > 0 && matched == len(p.stack)
		indent := indentOf(rest)
		if indent >= 4 {
			if inText || lazily {
				break
			}
			p.close(matched)
			p.open(leaf{kind: indented})
			p.codeLines(rest[4:])
			return
		}
		body := rest[indent:]
		if body[0] == '>' && len(p.stack) < maxDepth {
			p.close(matched)
			p.push(container{})
			matched, lazily = len(p.stack), false
			rest = body[1:]
			rest = strings.TrimPrefix(rest, " ")
			if blank(rest) {
				return
			}
			continue
		}
		if level, title := atx(body); level > 0 {
			p.close(matched)
			p.drawHeading(level, title)
			return
		}
		if fence, info := fenceOf(body); fence != "" {
			p.close(matched)
			p.open(leaf{kind: fenced, fence: fence, indent: indent, lang: highlight.Find(strings.TrimSpace(info))})
			return
		}
		if inText && p.setext(body) {
			return
		}
		if isRule(body) {
			p.close(matched)
			p.drawRule()
			return
		}
		if item, after, ok := itemOf(body, indent); ok && len(p.stack) < maxDepth &&
			!(inText && (after == "" || item.kind != '-' && item.kind != '*' && item.kind != '+' && item.number != 1)) {
			p.close(matched)
			p.pushItem(item)
			matched, lazily = len(p.stack), false
			rest = after
			if blank(rest) {
				return
			}
			continue
		}
		if !inText && !lazily && tagged(body) || (inText || lazily) && blockTag(body) {
			p.close(matched)
			p.open(leaf{kind: markup})
			p.addText(rest)
			return
		}
		if p.leaf.kind == table && matched == len(p.stack) {
			p.row(body)
			return
		}
		if inText && p.delimiterRow(body) {
			return
		}
		break
	}
	rest = strings.TrimLeft(rest, " ")
	if p.leaf.kind != paragraph || !lazily && matched < len(p.stack) {
		p.close(matched)
		p.open(leaf{kind: paragraph})
	}
	p.addText(rest)
}

// match gives how many containers a line goes on in, and where in the line what is in
// them begins.
func (p *parser) match(text string) (pos, matched int) {
	for i := range p.stack {
		c := &p.stack[i]
		rest := text[pos:]
		indent := indentOf(rest)
		switch {
		case c.item && blank(rest):
			pos = len(text)
		case c.item && indent >= c.indent:
			pos += c.indent
		case !c.item && indent < 4 && strings.HasPrefix(rest[indent:], ">"):
			pos += indent + 1
			if strings.HasPrefix(text[pos:], " ") {
				pos++
			}
		default:
			return pos, i
		}
	}
	return pos, len(p.stack)
}

func (p *parser) blankLine(matched int) {
	for i := matched; i < len(p.stack); i++ {
		if !p.stack[i].item {
			p.close(i)
			break
		}
	}
	if p.leaf.kind == indented {
		p.leaf.blank++
		return
	}
	p.closeLeaf()
	p.blank = true
}

func (p *parser) open(l leaf) {
	p.ids++
	l.id = p.ids
	p.leaf = l
	p.lists = p.lists[:min(len(p.lists), len(p.stack))]
	if l.kind == fenced || l.kind == indented {
		p.gap(l.kind)
	}
}

// addText adds a line to a paragraph or to HTML.
func (p *parser) addText(text string) {
	if len(p.leaf.text) > 0 {
		p.leaf.text = append(p.leaf.text, '\n')
	}
	p.leaf.text = append(p.leaf.text, text...)
	if len(p.leaf.text) >= maxParagraph && !p.trial {
		kind := p.leaf.kind
		p.closeLeaf()
		p.open(leaf{kind: kind})
	}
}

// close closes the leaf and all containers but the first n.
func (p *parser) close(n int) {
	p.closeLeaf()
	for len(p.stack) > n {
		c := &p.stack[len(p.stack)-1]
		if !c.started { // an item or a quote of nothing
			p.draw(paragraph, []string{""})
		}
		depth := len(p.stack) - 1
		p.lists = p.lists[:min(len(p.lists), depth)]
		for len(p.lists) < depth {
			p.lists = append(p.lists, container{})
		}
		p.lists = append(p.lists, *c)
		p.stack = p.stack[:depth]
	}
}

func (p *parser) push(c container) {
	p.lists = p.lists[:min(len(p.lists), len(p.stack))]
	p.stack = append(p.stack, c)
}

// pushItem opens an item of a list; it goes on with the numbers of the one before.
func (p *parser) pushItem(c container) {
	depth := len(p.stack)
	if len(p.lists) > depth {
		if last := p.lists[depth]; last.item && last.kind == c.kind {
			c.number = last.number + 1
		}
	}
	if c.kind == '-' || c.kind == '*' || c.kind == '+' {
		c.marker = p.th.Box.Bullet + " "
		if p.th.Box.Bullet == "" {
			c.marker = "- "
		}
	} else {
		c.marker = strconv.Itoa(c.number) + string(c.kind) + " "
	}
	p.push(c)
}

func (p *parser) closeLeaf() {
	l := p.leaf
	p.leaf = leaf{}
	switch l.kind {
	case paragraph:
		if text := strings.Trim(string(l.text), " \n"); text != "" {
			p.draw(paragraph, p.flow([]byte(text)).lines(p.room(), true))
		}
	case markup:
		if len(l.text) == 0 {
			return
		}
		f := &flow{}
		f.add(string(l.text), p.styles().base.With(p.th.Dim), "")
		p.draw(markup, f.lines(p.room(), true))
	case table:
		if l.widths == nil {
			p.leaf = l
			p.settle()
			p.leaf = leaf{}
		}
	case fenced, indented:
		p.before = l.kind
	}
}

// base gives the style of text here.
func (p *parser) base() theme.Style {
	for _, c := range p.stack {
		if !c.item {
			return p.th.Quote
		}
	}
	return p.th.Assistant
}

func (p *parser) styles() styles { return styles{th: p.th, base: p.base()} }

// flow gives the text of a paragraph. The box of a task is drawn.
func (p *parser) flow(text []byte) *flow {
	src := strings.TrimRight(string(text), " \n")
	box := ""
	if n := len(p.stack); n > 0 && p.stack[n-1].item && !p.stack[n-1].started && len(src) > 3 && src[0] == '[' && src[2] == ']' && src[3] == ' ' {
		switch src[1] {
		case ' ':
			box = "☐ "
			if p.th.Plain {
				box = "[ ] "
			}
		case 'x', 'X':
			box = "☑ "
			if p.th.Plain {
				box = "[x] "
			}
		}
	}
	if box == "" {
		return inlineFlow(src, p.styles())
	}
	f := &flow{}
	f.add(box, p.th.ListMark, "")
	rest := inlineFlow(src[4:], p.styles())
	at := 0
	for _, r := range rest.runs {
		f.add(string(rest.text[at:r.end]), r.style, r.link)
		at = r.end
	}
	return f
}

// room gives how many cells a line has for its text.
func (p *parser) room() int {
	w := p.width - p.prefixWidth()
	if w < minRoom {
		return p.width
	}
	return w
}

// minRoom is how many cells text has at least; where there are fewer, what it is
// nested in is not drawn.
const minRoom = 12

func (p *parser) prefixWidth() int {
	n := 0
	for i := range p.stack {
		n += p.stack[i].cells()
	}
	return n
}

func (c *container) cells() int {
	if c.item {
		return cell.Width(c.marker)
	}
	return 2
}

// prefix gives what stands before a line, and notes that the containers have begun.
func (p *parser) prefix() string {
	if len(p.stack) == 0 {
		return ""
	}
	draw := p.width-p.prefixWidth() >= minRoom
	var b strings.Builder
	for i := range p.stack {
		c := &p.stack[i]
		switch {
		case !draw:
		case !c.item:
			b.WriteString(p.th.Quote.On(p.bar()) + " ")
		case c.started:
			b.WriteString(strings.Repeat(" ", c.cells()))
		default:
			b.WriteString(p.th.ListMark.On(strings.TrimRight(c.marker, " ")) + " ")
		}
		c.started = true
	}
	return b.String()
}

func (p *parser) bar() string {
	if p.th.Box.Bar == "" {
		return "|"
	}
	return p.th.Box.Bar
}

// under gives lines with what stands before each of them.
func (p *parser) under(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(p.prefix()+l, " ")
	}
	return out
}

// gap draws a blank line where one belongs before a block.
func (p *parser) gap(k leafKind) {
	apart := func(k leafKind) bool { return k == fenced || k == indented || k == table || k == rule }
	if p.any && (p.blank || apart(k) || apart(p.before) || k == heading) {
		line := ""
		for i := range p.stack {
			c := &p.stack[i]
			if !c.started {
				break
			}
			if c.item {
				line += strings.Repeat(" ", c.cells())
			} else {
				line += p.th.Quote.On(p.bar()) + " "
			}
		}
		if p.width-p.prefixWidth() < minRoom {
			line = ""
		}
		p.out = append(p.out, strings.TrimRight(line, " "))
	}
	p.any, p.blank = true, false
}

// draw draws a block.
func (p *parser) draw(k leafKind, lines []string) {
	p.gap(k)
	p.before = k
	p.out = append(p.out, p.under(lines)...)
}

func (p *parser) drawHeading(level int, title string) {
	p.lists = p.lists[:min(len(p.lists), len(p.stack))]
	s := p.styles()
	s.base = p.th.Heading
	if p.th.Heading == "" || p.th.Plain {
		title = strings.Repeat("#", level) + " " + title
	}
	p.draw(heading, inlineFlow(title, s).lines(p.room(), true))
}

func (p *parser) drawRule() {
	p.lists = p.lists[:min(len(p.lists), len(p.stack))]
	mark := p.th.Box.Horizontal
	if mark == "" {
		mark = "-"
	}
	p.draw(rule, []string{p.th.Rule.On(strings.Repeat(mark, min(p.room(), 40)))})
}

// setext makes a heading of the open paragraph when a line of = or - follows it.
func (p *parser) setext(body string) bool {
	text := strings.TrimRight(body, " ")
	level := 1
	switch {
	case strings.Trim(text, "=") == "":
	case strings.Trim(text, "-") == "":
		level = 2
	default:
		return false
	}
	title := strings.TrimSpace(string(p.leaf.text))
	p.leaf = leaf{}
	p.drawHeading(level, title)
	return true
}

func (p *parser) fencedLine(rest string) {
	l := &p.leaf
	indent := indentOf(rest)
	if body := rest[indent:]; indent < 4 && strings.HasPrefix(body, l.fence) && strings.Trim(body, l.fence[:1]+" ") == "" && !strings.Contains(strings.TrimRight(body, " "), " ") {
		p.closeLeaf()
		return
	}
	p.codeLine(rest[min(indent, l.indent):])
}

// codeLines draws a line of indented code behind the blank lines that were held back.
func (p *parser) codeLines(text string) {
	for ; p.leaf.blank > 0; p.leaf.blank-- {
		p.codeLine("")
	}
	p.codeLine(text)
}

// codeIndent stands before code, so that it is seen where it begins and ends without
// colours.
const codeIndent = "  "

// codeLine draws a line of code. One that is too long goes on in the next.
func (p *parser) codeLine(text string) {
	l := &p.leaf
	f := flow{text: []byte(text)}
	at := 0
	l.state = l.lang.Scan(text, l.state, func(n int, c highlight.Class) {
		at += n
		style := p.th.CodeBlock.With(c.Style(p.th))
		if k := len(f.runs); k > 0 && f.runs[k-1].style == style {
			f.runs[k-1].end = at
			return
		}
		if n > 0 {
			f.runs = append(f.runs, run{at, style, ""})
		}
	})
	for _, line := range f.lines(p.room()-len(codeIndent), false) {
		if line != "" {
			line = codeIndent + line
		}
		p.out = append(p.out, strings.TrimRight(p.prefix()+line, " "))
	}
}
