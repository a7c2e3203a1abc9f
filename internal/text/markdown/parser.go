package markdown

import "strings"

// maxDepth bounds what is nested; what is nested deeper is text.
const maxDepth = 12

// container is a quote or an item of a list that is open.
type container struct {
	item   bool
	indent int  // of an item: blanks before its content
	kind   byte // of its list: the bullet, or the character after the number
	number int
}

// leaf is the block that takes lines.
type leaf struct {
	kind   Kind   // 0 while none is open
	fenced bool   // of Code
	id     int    // another for each that is opened
	text   []byte // of a paragraph or of HTML, its lines with \n between
	fence  string // of a code block
	indent int    // of its fence
	blank  int    // blank lines that are held back in indented code
	width  int    // of a table: how many columns it has
}

// Parser keeps the blocks that are open, and returns tokens of what it reads. The zero
// value is at the beginning of a document.
type Parser struct {
	// MaxParagraph bounds an open paragraph, in bytes: a longer one ends. 0 is no bound.
	MaxParagraph int

	stack []container
	lists []container // the last item at each depth, for the number of the next one
	leaf  leaf
	ids   int
	out   []Token
	trial bool // a fork, for what is not complete
}

// Fork returns a copy that can be fed without changing p, for what is not complete: no
// bound ends a paragraph of it. It has no tokens.
func (p *Parser) Fork() *Parser {
	c := *p
	c.stack = append([]container(nil), p.stack...)
	c.lists = append([]container(nil), p.lists...)
	c.leaf.text = p.leaf.text[:len(p.leaf.text):len(p.leaf.text)]
	c.out, c.trial = nil, true
	return &c
}

// Take returns the tokens that it has not returned.
func (p *Parser) Take() []Token {
	out := p.out
	p.out = nil
	return out
}

// Paragraph returns the text of the open paragraph, and a number that is another for each;
// false when none is open.
func (p *Parser) Paragraph() (text []byte, id int, open bool) {
	return p.leaf.text, p.leaf.id, p.leaf.kind == Paragraph
}

// Tokens returns those of a whole text.
func Tokens(text string) []Token {
	var p Parser
	p.Feed(text, false)
	p.End()
	return p.Take()
}

// Feed reads complete lines, \n between them. With rest the first is the rest of one that
// was too long.
func (p *Parser) Feed(text string, rest bool) {
	for {
		line, following, more := strings.Cut(text, "\n")
		p.read(line, rest)
		if !more {
			return
		}
		text = following
	}
}

// End closes all that is open: nothing follows.
func (p *Parser) End() { p.close(0) }

func (p *Parser) put(t Token) { p.out = append(p.out, t) }

// read reads a line.
func (p *Parser) read(text string, goesOn bool) {
	rest, matched := p.match(text)
	if goesOn && p.leaf.kind == Paragraph {
		p.addText(text)
		return
	}
	whole := matched == len(p.stack)
	if whole && p.leaf.kind == Code && p.leaf.fenced {
		p.fencedLine(rest)
		return
	}
	rest = spaced(rest)
	switch {
	case blank(rest):
		p.blankLine(matched)
	case whole && p.leaf.kind == HTML:
		p.addText(rest)
	case whole && p.leaf.kind == Code && indentOf(rest) >= 4:
		p.indentedLine(rest[4:])
	default:
		p.block(rest, matched)
	}
}

// block reads what is in the first containers of a line: containers that it opens, and a
// block.
func (p *Parser) block(rest string, matched int) {
	lazily := matched < len(p.stack) && p.leaf.kind == Paragraph
	for {
		inText := p.leaf.kind == Paragraph && len(p.leaf.text) > 0 && matched == len(p.stack)
		indent := indentOf(rest)
		if indent >= 4 && (inText || lazily) {
			break
		}
		if indent >= 4 {
			p.close(matched)
			p.open(leaf{kind: Code}, "")
			p.indentedLine(rest[4:])
			return
		}
		if after, ok := p.opens(rest, matched, inText); ok {
			matched, lazily = len(p.stack), false
			if rest = after; blank(rest) {
				return
			}
			continue
		}
		if p.single(rest, matched, inText, lazily) {
			return
		}
		break
	}
	if p.leaf.kind != Paragraph || !lazily && matched < len(p.stack) {
		p.close(matched)
		p.open(leaf{kind: Paragraph}, "")
	}
	p.addText(strings.TrimLeft(rest, " "))
}

// opens opens the container that a line begins with, and returns what is in it; false when
// it begins with none.
func (p *Parser) opens(rest string, matched int, inText bool) (after string, ok bool) {
	indent := indentOf(rest)
	body := rest[indent:]
	if len(p.stack) >= maxDepth {
		return "", false
	}
	if body[0] == '>' {
		p.close(matched)
		p.push(container{})
		p.put(Token{Kind: Quote})
		return strings.TrimPrefix(body[1:], " "), true
	}
	if level, _ := atx(body); level > 0 || isRule(body) {
		return "", false
	}
	item, after, ok := itemOf(body, indent)
	if !ok || inText && (after == "" || item.ordered() && item.number != 1) {
		return "", false
	}
	p.close(matched)
	p.pushItem(item)
	return after, true
}

// single reads a block that begins with a line, or belongs to the open one; false when
// the line is text.
func (p *Parser) single(rest string, matched int, inText, lazily bool) bool {
	indent := indentOf(rest)
	body := rest[indent:]
	if level, title := atx(body); level > 0 {
		p.close(matched)
		p.apart(Token{Kind: Heading, Level: level, Text: title})
		return true
	}
	if fence, info := fenceOf(body); fence != "" {
		p.close(matched)
		p.open(leaf{kind: Code, fenced: true, fence: fence, indent: indent}, info)
		return true
	}
	if inText && p.setext(body) {
		return true
	}
	if isRule(body) {
		p.close(matched)
		p.apart(Token{Kind: Rule})
		return true
	}
	if !inText && !lazily && tagged(body) || (inText || lazily) && blockTag(body) {
		p.close(matched)
		p.open(leaf{kind: HTML}, "")
		p.addText(rest)
		return true
	}
	if p.leaf.kind == Table && matched == len(p.stack) {
		p.row(body)
		return true
	}
	return inText && p.delimiterRow(body)
}

// match returns how many containers a line goes on in, and what of it is in them.
func (p *Parser) match(text string) (rest string, matched int) {
	rest = text
	for i := range p.stack {
		c := &p.stack[i]
		switch {
		case c.item && blank(spaced(rest)):
			rest = ""
		case c.item:
			inner, ok := dropColumns(rest, c.indent)
			if !ok {
				return rest, i
			}
			rest = inner
		default:
			indent := indentOf(spaced(rest))
			if indent >= 4 || !strings.HasPrefix(strings.TrimLeft(rest, " \t"), ">") {
				return rest, i
			}
			rest = strings.TrimPrefix(strings.TrimLeft(rest, " \t")[1:], " ")
		}
	}
	return rest, len(p.stack)
}

func (p *Parser) blankLine(matched int) {
	for i := matched; i < len(p.stack); i++ {
		if !p.stack[i].item {
			p.close(i)
			break
		}
	}
	if p.leaf.kind == Code {
		p.leaf.blank++
		return
	}
	p.closeLeaf()
	p.put(Token{Kind: Blank})
}

func (p *Parser) open(l leaf, info string) {
	p.ids++
	l.id = p.ids
	p.leaf = l
	p.endLists()
	if l.kind == Code {
		p.put(Token{Kind: Code, Fenced: l.fenced, Text: info})
	}
}

// endLists ends the lists that end here: what follows is none of their items.
func (p *Parser) endLists() { p.lists = p.lists[:min(len(p.lists), len(p.stack))] }

// apart puts a block of one line.
func (p *Parser) apart(t Token) {
	p.endLists()
	p.put(t)
}

// addText adds a line to a paragraph or to HTML.
func (p *Parser) addText(text string) {
	if len(p.leaf.text) > 0 {
		p.leaf.text = append(p.leaf.text, '\n')
	}
	p.leaf.text = append(p.leaf.text, text...)
	if p.MaxParagraph > 0 && len(p.leaf.text) >= p.MaxParagraph && !p.trial {
		kind := p.leaf.kind
		p.closeLeaf()
		p.open(leaf{kind: kind}, "")
	}
}

// close closes the leaf and all containers but the first n.
func (p *Parser) close(n int) {
	p.closeLeaf()
	for len(p.stack) > n {
		depth := len(p.stack) - 1
		c := p.stack[depth]
		p.put(Token{Kind: End})
		p.lists = p.lists[:min(len(p.lists), depth)]
		for len(p.lists) < depth {
			p.lists = append(p.lists, container{})
		}
		p.lists = append(p.lists, c)
		p.stack = p.stack[:depth]
	}
}

func (p *Parser) push(c container) {
	p.endLists()
	p.stack = append(p.stack, c)
}

// pushItem opens an item of a list; it goes on with the numbers of the one before.
func (p *Parser) pushItem(c container) {
	first := true
	if depth := len(p.stack); len(p.lists) > depth {
		if last := p.lists[depth]; last.item && last.kind == c.kind {
			c.number = last.number + 1
			first = false
		}
	}
	p.push(c)
	p.put(Token{Kind: Item, List: ListItem{Mark: c.kind, Number: c.number, First: first}})
}

func (p *Parser) closeLeaf() {
	l := p.leaf
	p.leaf = leaf{}
	switch l.kind {
	case Paragraph:
		if text := strings.Trim(string(l.text), " \n"); text != "" {
			p.put(Token{Kind: Paragraph, Text: text})
		}
	case HTML:
		if len(l.text) > 0 {
			p.put(Token{Kind: HTML, Text: string(l.text)})
		}
	case Table:
		p.put(Token{Kind: TableEnd})
	case Code:
		p.put(Token{Kind: CodeEnd})
	}
}

// setext makes a heading of the open paragraph when a line of = or - follows it.
func (p *Parser) setext(body string) bool {
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
	p.apart(Token{Kind: Heading, Level: level, Text: title})
	return true
}

func (p *Parser) fencedLine(rest string) {
	l := &p.leaf
	indent := indentOf(rest)
	if body := rest[indent:]; indent < 4 && strings.HasPrefix(body, l.fence) && strings.Trim(body, l.fence[:1]+" ") == "" && !strings.Contains(strings.TrimRight(body, " "), " ") {
		p.closeLeaf()
		return
	}
	p.put(Token{Kind: CodeLine, Text: rest[min(indent, l.indent):]})
}

// indentedLine puts a line of indented code after the blank lines that were held back.
func (p *Parser) indentedLine(text string) {
	for ; p.leaf.blank > 0; p.leaf.blank-- {
		p.put(Token{Kind: CodeLine})
	}
	p.put(Token{Kind: CodeLine, Text: text})
}
