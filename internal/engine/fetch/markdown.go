package fetch

import (
	"bytes"
	"context"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"scorel/internal/text/promptsafe"
)

// A page is converted token by token, without a tree: the tree that HTML demands
// can be thousands of times as large as its source (each paragraph reopens all
// formatting around it), so a page could take all memory. Time is linear in the
// source, memory is the text and the open elements.
const (
	maxOpen  = 256  // open lists, items, quotes and headings; deeper ones are text
	maxMarks = 32   // open links and emphases; further ones are text
	maxLink  = 2048 // bytes of a link; longer ones are text
	maxReach = 8    // blocks that a link may run through
	maxAttrs = 64   // attributes of an element that are looked at
)

// cutMark ends a text that is not whole.
const cutMark = "[The rest of the page is left out: it is too long.]"

// mark is an open link or emphasis.
type mark struct {
	tag         atom.Atom
	open, close string
	written     bool
	blocks      int // that it has run through
}

// list is an open list.
type list struct {
	ordered bool
	next    int
}

// converter turns HTML into Markdown, or into plain text.
type converter struct {
	base  *url.URL
	plain bool
	w     *writer
	open  []atom.Atom // of structure, the innermost last
	lists []list
	marks []mark
	table *table
	code  *capture
	skip  string // the element that is left out
	depth int    // of elements named skip
}

// convert returns title and text of a page of HTML. Scripts, styles, comments and
// hidden elements are left out; of a page that names its main part only that is
// shown; links are absolute and lead to http, https or mailto only.
func convert(ctx context.Context, source string, base *url.URL, f Format) (title, text string) {
	head := headOf(source, base)
	c := &converter{base: head.base, plain: f == Text}
	c.w = c.newWriter(false)
	whole := c.run(ctx, source[head.from:head.to])
	c.finish()
	text = strings.TrimSpace(c.w.b.String())
	if !whole || c.w.full() {
		text = cutBytes(text, maxShown) + "\n\n" + cutMark
	}
	return head.title, promptsafe.Clean(text)
}

func (c *converter) newWriter(cell bool) *writer {
	return &writer{limit: maxShown, cell: cell, before: c.writeMarks}
}

// run converts tokens; it reports whether it came to the end.
func (c *converter) run(ctx context.Context, source string) bool {
	z := html.NewTokenizer(strings.NewReader(source))
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil || c.w.full() {
			return false
		}
		switch z.Next() {
		case html.ErrorToken:
			return true
		case html.TextToken:
			if c.skip == "" {
				c.text(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			e := readElement(z)
			switch {
			case c.skip == "":
				c.start(e)
			case c.skip == "p" && isBlock(e.tag):
				c.skip = "" // a paragraph ends where a block begins
				c.start(e)
			case c.skip == e.name:
				c.depth++
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if c.skip != "" {
				if c.skip == string(name) {
					if c.depth--; c.depth == 0 {
						c.skip = ""
					}
				}
				continue
			}
			c.end(atom.Lookup(name))
		}
	}
}

// start takes the beginning of an element.
func (c *converter) start(e element) {
	if e.tag == atom.Math && e.alt != "" && !e.hidden {
		c.text(e.alt)
		c.skip, c.depth = e.name, 1
		return
	}
	if leftOut(e) {
		if !isVoid(e.tag) {
			c.skip, c.depth = e.name, 1
		}
		return
	}
	if c.code != nil && c.codeStart(e) {
		return
	}
	switch e.tag {
	case atom.B, atom.Strong:
		c.openMark(mark{tag: e.tag, open: "**", close: "**"})
	case atom.I, atom.Em:
		c.openMark(mark{tag: e.tag, open: "*", close: "*"})
	case atom.Del, atom.S, atom.Strike:
		c.openMark(mark{tag: e.tag, open: "~~", close: "~~"})
	case atom.A:
		c.endMark(atom.A)
		if to := c.link(e.href); to != "" && !c.plain {
			c.openMark(mark{tag: atom.A, open: "[", close: "](" + to + ")"})
		}
	case atom.Img:
		c.image(e)
	case atom.Br:
		c.breakLine()
	case atom.Hr:
		c.blockStart(2)
		if !c.plain && !c.w.cell {
			c.w.put("---")
		}
		c.blockStart(2)
	case atom.Pre, atom.Code, atom.Kbd, atom.Samp, atom.Tt, atom.Textarea, atom.Listing:
		c.beginCode(e)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		c.heading(int(e.name[1] - '0'))
	case atom.Ul, atom.Ol, atom.Menu:
		c.beginList(e)
	case atom.Li:
		c.beginItem()
	case atom.Dt:
		c.blockStart(2)
	case atom.Dd:
		c.blockStart(1)
		if !c.w.cell {
			c.w.lead = ": "
		}
	case atom.Blockquote:
		c.blockStart(2)
		if c.plain {
			c.push(atom.Blockquote, container{})
			return
		}
		c.push(atom.Blockquote, container{first: "> ", rest: "> "})
	case atom.Table:
		c.beginTable(e)
	case atom.Tr, atom.Td, atom.Th:
		c.tablePart(e.tag)
	default:
		if isBlock(e.tag) {
			c.blockStart(blockLines(e.tag))
		}
	}
}

// end takes the end of an element.
func (c *converter) end(tag atom.Atom) {
	if c.code != nil {
		if !c.codeEnd(tag) {
			return
		}
	}
	switch tag {
	case atom.B, atom.Strong, atom.I, atom.Em, atom.Del, atom.S, atom.Strike, atom.A:
		c.endMark(tag)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		c.closeHeading()
	case atom.Ul, atom.Ol, atom.Menu, atom.Li, atom.Blockquote:
		c.pop(tag)
	case atom.Table:
		c.endTable()
	case atom.Tr, atom.Td, atom.Th:
		c.endCell()
	default:
		if isBlock(tag) {
			c.blockStart(blockLines(tag))
		}
	}
}

// finish closes what is open at the end of the page.
func (c *converter) finish() {
	c.flushCode()
	for c.table != nil {
		c.endTable()
	}
	c.breakMarks()
}

func (c *converter) text(s string) {
	if c.code != nil {
		c.code.add(s)
		return
	}
	c.w.text(s, !c.plain)
}

// blockStart ends the line: emphasis and links end with it and begin again.
func (c *converter) blockStart(n int) {
	c.breakMarks()
	c.w.lead = keepLead(c.w)
	c.w.block(n)
}

// keepLead returns the lead that is still to be used: that of a heading holds until
// its end.
func keepLead(w *writer) string {
	if strings.HasPrefix(w.lead, "#") {
		return w.lead
	}
	return ""
}

func (c *converter) breakLine() {
	if c.w.cell || c.w.lead != "" {
		c.w.space = c.w.line
		return
	}
	c.breakMarks()
	if c.w.line {
		c.w.need = min(c.w.need+1, 2)
	}
	c.w.space = false
}

func (c *converter) heading(level int) {
	c.closeHeading()
	c.blockStart(2)
	if len(c.open) >= maxOpen {
		return
	}
	c.open = append(c.open, atom.H1)
	if !c.w.cell && !c.plain {
		c.w.line = false
		c.w.need = max(c.w.need, 2)
		c.w.lead = strings.Repeat("#", level) + " "
	}
}

// closeHeading ends a heading that is the innermost open element.
func (c *converter) closeHeading() {
	n := len(c.open)
	if n == 0 || n <= c.floor() || c.open[n-1] != atom.H1 {
		return
	}
	c.open = c.open[:n-1]
	c.breakMarks()
	c.w.lead = ""
	c.w.block(2)
}

// floor is how many open elements belong to what is around the current cell.
func (c *converter) floor() int {
	if c.table != nil {
		return c.table.floor
	}
	return 0
}

func (c *converter) beginList(e element) {
	c.closeHeading()
	lines := 2
	if len(c.lists) > 0 {
		lines = 1
	}
	c.blockStart(lines)
	if len(c.open) >= maxOpen {
		return
	}
	next := 1
	if e.start > 0 {
		next = e.start
	}
	c.open = append(c.open, atom.Ul)
	c.lists = append(c.lists, list{ordered: e.tag == atom.Ol, next: next})
}

func (c *converter) beginItem() {
	c.closeHeading()
	if n := len(c.open); n > c.floor() && c.open[n-1] == atom.Li {
		c.pop(atom.Li)
	}
	c.blockStart(1)
	marker := "- "
	if n := len(c.lists); n > 0 && c.lists[n-1].ordered {
		marker = strconv.Itoa(c.lists[n-1].next) + ". "
		c.lists[n-1].next++
	}
	if c.w.cell {
		c.w.space = c.w.line
		c.push(atom.Li, container{})
		return
	}
	c.push(atom.Li, container{first: marker, rest: strings.Repeat(" ", len(marker))})
}

// push opens a quote or an item.
func (c *converter) push(tag atom.Atom, in container) {
	if len(c.open) >= maxOpen {
		return
	}
	c.open = append(c.open, tag)
	if len(c.w.in) >= maxNesting || c.w.cell {
		in = container{}
	}
	c.w.in = append(c.w.in, in)
}

// pop closes the innermost open element of a kind and all in it.
func (c *converter) pop(tag atom.Atom) {
	if tag == atom.Ol || tag == atom.Menu {
		tag = atom.Ul
	}
	at := -1
	for i := len(c.open) - 1; i >= c.floor(); i-- {
		if c.open[i] == tag {
			at = i
			break
		}
		if tag == atom.Li && c.open[i] == atom.Ul {
			break // an item ends only within its own list
		}
	}
	if at < 0 {
		c.blockStart(1)
		return
	}
	lines := 1
	for i := len(c.open) - 1; i >= at; i-- {
		switch c.open[i] {
		case atom.H1:
			c.w.lead = ""
		case atom.Ul:
			if n := len(c.lists); n > 0 {
				c.lists = c.lists[:n-1]
			}
			if len(c.lists) == 0 {
				lines = 2
			}
		case atom.Li, atom.Blockquote:
			if n := len(c.w.in); n > 0 {
				c.w.in = c.w.in[:n-1]
			}
			if c.open[i] == atom.Blockquote {
				lines = 2
			}
		}
	}
	c.open = c.open[:at]
	c.w.lead = keepLead(c.w)
	c.blockStart(lines)
}

func (c *converter) openMark(m mark) {
	if c.plain || len(c.marks) >= maxMarks {
		return
	}
	c.marks = append(c.marks, m)
}

// writeMarks writes the marks that waited for a text.
func (c *converter) writeMarks() {
	for i := range c.marks {
		if m := &c.marks[i]; !m.written {
			m.written = true
			c.w.b.WriteString(m.open)
			c.w.last = 0
		}
	}
}

// closeMarks writes the ends of the marks from the i-th on.
func (c *converter) closeMarks(i int) {
	for k := len(c.marks) - 1; k >= i; k-- {
		if m := &c.marks[k]; m.written {
			m.written = false
			c.w.b.WriteString(m.close)
			c.w.last = 0
		}
	}
}

// breakMarks ends all marks at the end of a block; they begin again in the next.
func (c *converter) breakMarks() {
	if len(c.marks) == 0 {
		return
	}
	used := false
	for _, m := range c.marks {
		used = used || m.written
	}
	c.closeMarks(0)
	if !used {
		return
	}
	kept := c.marks[:0]
	for _, m := range c.marks {
		if m.blocks++; m.blocks < maxReach {
			kept = append(kept, m)
		}
	}
	c.marks = kept
}

func (c *converter) endMark(tag atom.Atom) {
	for i := len(c.marks) - 1; i >= 0; i-- {
		if c.marks[i].tag == tag {
			c.closeMarks(i)
			c.marks = append(c.marks[:i], c.marks[i+1:]...)
			return
		}
	}
}

// link returns where a reference leads, "" when it is not shown as a link.
func (c *converter) link(ref string) string {
	ref = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, ref))
	if ref == "" || ref[0] == '#' || len(ref) > maxLink {
		return ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	if c.base != nil {
		u = c.base.ResolveReference(u)
	}
	switch {
	case u.Scheme == "mailto":
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
	default:
		return ""
	}
	u.User = nil
	s := u.String()
	if len(s) > maxLink {
		return ""
	}
	return escapeLink(s)
}

// escapeLink makes a URL the target of a link that nothing in it can end.
func escapeLink(s string) string {
	var b bytes.Buffer
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ' || c >= 0x7f || strings.IndexByte("()<>[]\\\"`|*", c) >= 0:
			const hex = "0123456789ABCDEF"
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (c *converter) image(e element) {
	alt := oneLine(e.alt, 200)
	if alt == "" {
		return
	}
	c.w.space = c.w.space || c.w.line
	to := c.link(e.src)
	if c.plain || to == "" {
		c.w.text(alt, !c.plain)
		return
	}
	c.w.put("![")
	c.w.text(strings.NewReplacer("[", "(", "]", ")").Replace(alt), true)
	c.w.b.WriteString("](" + to + ")")
	c.w.last = 0
}
