package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a text with marks: open marks of emphasis and open brackets that are
// remembered (further ones are text), and bytes of an address.
const (
	maxMarks = 100
	maxURL   = 2000
)

// Style is how text stands out.
type Style uint8

// The ways in which text stands out.
const (
	Strong Style = 1 << iota
	Emphasis
	Struck
	CodeSpan
	Linked
)

// Role is what a span is for, besides being text.
type Role uint8

// The roles of spans.
const (
	Plain     Role = iota
	SoftBreak      // the end of a line, a blank
	HardBreak      // a line break
	Entity         // a character by its name
	ImageOpen      // before the text of an image
	ImageEnd       // after it
	Target         // the address of the link or image before, where its text is another
	Mail           // an address of mail in angle brackets
)

// Span is a piece of a text.
type Span struct {
	Text  string // as it is shown without any markup
	Style Style
	Role  Role
	URL   string // of what is linked, as it was written
	Outer string // of an image: the address of the link around it, "" without one
}

// token is a span. Marks of emphasis are text until they are paired.
type token struct {
	Span

	mark        byte // *, _ or ~ of what may be a mark
	n           int  // how many of it are left
	open, close bool
	bracket     bool // a [ that may begin a link
	image       bool
	pictured    bool // it is in the text of an image
}

// inline reads the marks of a text.
type inline struct {
	src    string
	tokens []token
	marks  []int    // indexes of tokens that may open
	opens  []int    // indexes of [
	ticks  [32]bool // so many backticks do not follow any more
	plain  int
}

// Spans reads the marks of a text.
func Spans(src string) []Span {
	p := inline{src: src}
	i := 0
	for i < len(src) {
		var n int
		switch c := src[i]; c {
		case '\\':
			n = p.escaped(i)
		case '`':
			n = p.codeSpan(i)
		case '*', '_', '~':
			n = p.delimiter(i)
		case '[':
			n = p.bracket(i, 1)
		case '!':
			if strings.HasPrefix(src[i:], "![") {
				n = p.bracket(i, 2)
			}
		case ']':
			n = p.link(i)
		case '<':
			n = p.angle(i)
		case '&':
			n = p.entity(i)
		case 'h':
			n = p.bare(i)
		case '\n':
			n = p.lineBreak(i)
		}
		if n == 0 {
			i++
			continue
		}
		i += n
		p.plain = i
	}
	p.flush(i)
	p.pair(0)
	spans := make([]Span, len(p.tokens))
	for k := range p.tokens {
		spans[k] = p.tokens[k].Span
	}
	return spans
}

// flush makes a token of the plain text up to i.
func (p *inline) flush(i int) {
	if i > p.plain {
		p.tokens = append(p.tokens, token{Span: Span{Text: p.src[p.plain:i]}})
	}
	p.plain = i
}

func (p *inline) put(t token) { p.tokens = append(p.tokens, t) }

func punctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

func (p *inline) escaped(i int) int {
	if i+1 >= len(p.src) {
		return 0
	}
	switch c := p.src[i+1]; {
	case c == '\n':
		p.flush(i)
		p.put(token{Span: Span{Text: "\n", Role: HardBreak}})
		return 2
	case punctuation(c):
		p.flush(i)
		p.put(token{Span: Span{Text: p.src[i+1 : i+2]}})
		return 2
	}
	return 0
}

func (p *inline) codeSpan(i int) int {
	n := 1
	for i+n < len(p.src) && p.src[i+n] == '`' {
		n++
	}
	known := n < len(p.ticks)
	if !known || !p.ticks[n] {
		for k := i + n; k < len(p.src); {
			at := strings.IndexByte(p.src[k:], '`')
			if at < 0 {
				break
			}
			k += at
			m := 1
			for k+m < len(p.src) && p.src[k+m] == '`' {
				m++
			}
			if m == n {
				text := strings.ReplaceAll(p.src[i+n:k], "\n", " ")
				if len(text) > 2 && text[0] == ' ' && text[len(text)-1] == ' ' && strings.Trim(text, " ") != "" {
					text = text[1 : len(text)-1]
				}
				p.flush(i)
				p.put(token{Span: Span{Text: text, Style: CodeSpan}})
				return k + n - i
			}
			k += m
		}
		if known {
			p.ticks[n] = true
		}
	}
	p.flush(i)
	p.put(token{Span: Span{Text: p.src[i : i+n]}})
	return n
}

func (p *inline) delimiter(i int) int {
	c := p.src[i]
	n := 1
	for i+n < len(p.src) && p.src[i+n] == c {
		n++
	}
	if c == '~' && n > 2 {
		p.flush(i)
		p.put(token{Span: Span{Text: p.src[i : i+n]}})
		return n
	}
	before, _ := utf8.DecodeLastRuneInString(p.src[:i])
	after, _ := utf8.DecodeRuneInString(p.src[i+n:])
	spaceB, spaceA := i == 0 || unicode.IsSpace(before), i+n == len(p.src) || unicode.IsSpace(after)
	punctB, punctA := i > 0 && isPunct(before), i+n < len(p.src) && isPunct(after)
	left := !spaceA && (!punctA || spaceB || punctB)
	right := !spaceB && (!punctB || spaceA || punctA)
	t := token{Span: Span{Text: p.src[i : i+n]}, mark: c, n: n, open: left, close: right}
	if c == '_' {
		t.open = left && (!right || punctB)
		t.close = right && (!left || punctA)
	}
	p.flush(i)
	p.put(t)
	return n
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func (p *inline) bracket(i, n int) int {
	p.flush(i)
	if len(p.opens) >= maxMarks {
		p.put(token{Span: Span{Text: p.src[i : i+n]}})
		return n
	}
	p.opens = append(p.opens, len(p.tokens))
	p.put(token{Span: Span{Text: p.src[i : i+n]}, bracket: true, image: n == 2})
	return n
}

// link looks whether a ] ends the text of a link.
func (p *inline) link(i int) int {
	if len(p.opens) == 0 {
		return 0
	}
	at := p.opens[len(p.opens)-1]
	p.opens = p.opens[:len(p.opens)-1]
	url, n := target(p.src[i+1:])
	if n == 0 {
		return 0
	}
	p.flush(i)
	p.pair(at + 1)
	open := &p.tokens[at]
	image := open.image
	open.Text, open.bracket = "", false
	label := ""
	for k := at + 1; k < len(p.tokens); k++ {
		t := &p.tokens[k]
		label += t.Text
		t.Style |= Linked
		if t.Role != Target && (!t.pictured || !WebURL(t.URL)) { // else it leads to the image
			t.URL = url
		}
		if t.pictured && !image {
			t.Outer = url
		}
		t.pictured = t.pictured || image
		t.mark = 0
	}
	if image {
		open.Span, open.pictured = Span{Text: "[image: ", Style: Linked, Role: ImageOpen, URL: url}, true
		if label == "" {
			p.tokens[at].Text = "[image"
		}
		p.put(token{Span: Span{Text: "]", Style: Linked, Role: ImageEnd, URL: url}, pictured: true})
	} else {
		p.opens = p.opens[:0] // no link in a link
	}
	if shown := strings.TrimSpace(display(url)); shown != "" && shown != label && strings.TrimPrefix(shown, "mailto:") != label {
		p.put(token{Span: Span{Text: " (" + shown + ")", Role: Target, URL: url}})
	}
	return n + 1
}

// target returns the address of "(url title)" and the length of it, 0 when it is none.
func target(s string) (url string, n int) {
	if s == "" || s[0] != '(' {
		return "", 0
	}
	i := 1 + blanks(s[1:])
	if i < len(s) && s[i] == '<' {
		end := strings.IndexAny(s[i:min(len(s), i+maxURL)], ">\n")
		if end < 0 || s[i+end] != '>' {
			return "", 0
		}
		url, i = s[i+1:i+end], i+end+1
	} else {
		depth, from := 0, i
		for i < len(s) && i-from <= maxURL && s[i] > ' ' {
			switch s[i] {
			case '\\':
				if i+1 < len(s) && punctuation(s[i+1]) {
					i++
				}
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth < 0 {
				break
			}
			i++
		}
		i = min(i, len(s))
		url = s[from:i]
	}
	i += blanks(s[i:])
	if i < len(s) && (s[i] == '"' || s[i] == '\'') { // a title, which is not shown
		end := strings.IndexByte(s[i+1:min(len(s), i+1+maxURL)], s[i])
		if end < 0 {
			return "", 0
		}
		i += end + 2
		i += blanks(s[i:])
	}
	if i >= len(s) || s[i] != ')' {
		return "", 0
	}
	return url, i + 1
}

func blanks(s string) int {
	n := 0
	for n < len(s) && (s[n] == ' ' || s[n] == '\n') {
		n++
	}
	return n
}

// display returns an address as it is shown: one line.
func display(url string) string { return strings.Join(strings.Fields(url), " ") }

// WebURL reports whether an address is one of the web and holds nothing but what addresses
// are made of.
func WebURL(url string) bool {
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") || len(url) > maxURL {
		return false
	}
	return !strings.ContainsFunc(url, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"<>[\]^{|}`+"`", c)
	})
}

// angle reads <https://address>, and a line break of HTML.
func (p *inline) angle(i int) int {
	end := strings.IndexByte(p.src[i:min(len(p.src), i+maxURL)], '>')
	if end < 0 {
		return 0
	}
	text := p.src[i+1 : i+end]
	switch {
	case text == "br" || text == "br/" || text == "br /":
		p.flush(i)
		p.put(token{Span: Span{Text: "\n", Role: HardBreak}})
		return end + 1
	case WebURL(text):
		p.flush(i)
		p.put(token{Span: Span{Text: text, Style: Linked, URL: text}})
		return end + 1
	case strings.HasPrefix(text, "mailto:") && !strings.ContainsAny(text, " \n<\"\\"):
		p.flush(i)
		p.put(token{Span: Span{Text: p.src[i : i+end+1], Role: Mail, URL: text}})
		return end + 1
	}
	return 0
}

// bare reads an address that is in the text.
func (p *inline) bare(i int) int {
	rest := p.src[i:]
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") || i > 0 && (p.src[i-1] >= '0' && p.src[i-1] <= '9' || p.src[i-1] >= 'A' && p.src[i-1] <= 'z' && p.src[i-1] != '[' && p.src[i-1] != '_') {
		return 0
	}
	n := 0
	for n < len(rest) && n < maxURL && rest[n] > ' ' && rest[n] < 0x7f && strings.IndexByte("<>`\"[]", rest[n]) < 0 && !strings.HasPrefix(rest[n:], "**") {
		n++
	}
	for n > 0 && strings.IndexByte("?!.,:*_~';", rest[n-1]) >= 0 {
		n--
	}
	for n > 0 && rest[n-1] == ')' && strings.Count(rest[:n], ")") > strings.Count(rest[:n], "(") {
		n--
	}
	if n <= len("https://") {
		return 0
	}
	p.flush(i)
	p.put(token{Span: Span{Text: rest[:n], Style: Linked, URL: rest[:n]}})
	return n
}

func (p *inline) entity(i int) int {
	end := strings.IndexByte(p.src[i:min(len(p.src), i+32)], ';')
	if end < 2 {
		return 0
	}
	text := html.UnescapeString(p.src[i : i+end+1])
	if text == p.src[i:i+end+1] {
		return 0
	}
	p.flush(i)
	p.put(token{Span: Span{Text: text, Role: Entity}})
	return end + 1
}

// lineBreak reads the end of a line: a blank, or a break after two blanks.
func (p *inline) lineBreak(i int) int {
	text := strings.TrimRight(p.src[p.plain:i], " ")
	hard := i-p.plain-len(text) >= 2
	p.flush(p.plain + len(text))
	if hard {
		p.put(token{Span: Span{Text: "\n", Role: HardBreak}})
	} else {
		p.put(token{Span: Span{Text: " ", Role: SoftBreak}})
	}
	return 1
}

// pair pairs the marks of emphasis among the tokens from one on, as CommonMark has it.
func (p *inline) pair(from int) {
	p.marks = p.marks[:0]
	for k := from; k < len(p.tokens); k++ {
		c := &p.tokens[k]
		if c.mark == 0 {
			continue
		}
		if c.close {
			p.closeMark(k)
		}
		c = &p.tokens[k]
		if c.open && c.n > 0 && len(p.marks) < maxMarks {
			p.marks = append(p.marks, k)
		}
	}
	for k := from; k < len(p.tokens); k++ {
		if t := &p.tokens[k]; t.mark != 0 {
			t.Text, t.mark = t.Text[:t.n], 0
		}
	}
}

func (p *inline) closeMark(k int) {
	for m := len(p.marks) - 1; m >= 0 && p.tokens[k].n > 0; m-- {
		o, c := &p.tokens[p.marks[m]], &p.tokens[k]
		if o.mark != c.mark {
			continue
		}
		if c.mark == '~' {
			if o.n != c.n {
				continue
			}
			p.over(p.marks[m]+1, k, Struck)
			o.n, c.n = 0, 0
			p.marks = p.marks[:m]
			return
		}
		if (o.close || c.open) && (len(o.Text)+len(c.Text))%3 == 0 && (len(o.Text)%3 != 0 || len(c.Text)%3 != 0) {
			continue
		}
		for o.n > 0 && c.n > 0 {
			use, flag := 1, Emphasis
			if o.n >= 2 && c.n >= 2 {
				use, flag = 2, Strong
			}
			p.over(p.marks[m]+1, k, flag)
			o.n -= use
			c.n -= use
		}
		if o.n > 0 {
			p.marks = p.marks[:m+1]
			return
		}
		p.marks = p.marks[:m]
	}
}

func (p *inline) over(from, to int, flag Style) {
	for k := from; k < to; k++ {
		p.tokens[k].Style |= flag
	}
}
