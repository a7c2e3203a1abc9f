package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"scorel/internal/ui/tui/cell"
	"scorel/internal/ui/tui/theme"
)

// Bounds of a text with marks: open marks of emphasis and open brackets that are
// remembered (further ones are text), and bytes of an address.
const (
	maxMarks = 100
	maxURL   = 2000
)

// Ways in which text stands out, as bits.
const (
	strong = 1 << iota
	emphasis
	struck
	code
	linked
	away // the address behind a link
)

// token is a piece of a text. Marks of emphasis are text until they are paired.
type token struct {
	text  string
	flags uint8
	link  string

	mark        byte // *, _ or ~ of what may be a mark
	n           int  // how many of it are left
	open, close bool
	bracket     bool // a [ that may begin a link
	image       bool
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

func parseInline(src string) []token {
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
	return p.tokens
}

// flush makes a token of the plain text up to i.
func (p *inline) flush(i int) {
	if i > p.plain {
		p.tokens = append(p.tokens, token{text: p.src[p.plain:i]})
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
		p.put(token{text: "\n"})
		return 2
	case punctuation(c):
		p.flush(i)
		p.put(token{text: p.src[i+1 : i+2]})
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
				p.put(token{text: text, flags: code})
				return k + n - i
			}
			k += m
		}
		if known {
			p.ticks[n] = true
		}
	}
	p.flush(i)
	p.put(token{text: p.src[i : i+n]})
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
		p.put(token{text: p.src[i : i+n]})
		return n
	}
	before, _ := utf8.DecodeLastRuneInString(p.src[:i])
	after, _ := utf8.DecodeRuneInString(p.src[i+n:])
	spaceB, spaceA := i == 0 || unicode.IsSpace(before), i+n == len(p.src) || unicode.IsSpace(after)
	punctB, punctA := i > 0 && isPunct(before), i+n < len(p.src) && isPunct(after)
	left := !spaceA && (!punctA || spaceB || punctB)
	right := !spaceB && (!punctB || spaceA || punctA)
	t := token{text: p.src[i : i+n], mark: c, n: n, open: left, close: right}
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
		p.put(token{text: p.src[i : i+n]})
		return n
	}
	p.opens = append(p.opens, len(p.tokens))
	p.put(token{text: p.src[i : i+n], bracket: true, image: n == 2})
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
	open.text, open.bracket = "", false
	link := safeURL(url)
	label := ""
	for k := at + 1; k < len(p.tokens); k++ {
		t := &p.tokens[k]
		label += t.text
		t.flags |= linked
		if t.link == "" {
			t.link = link
		}
		t.mark = 0
	}
	if image {
		open.text, open.flags, open.link = "[image: ", linked, link
		if label == "" {
			p.tokens[at].text = "[image"
		}
		p.put(token{text: "]", flags: linked, link: link})
	} else {
		p.opens = p.opens[:0] // no link in a link
	}
	if url = strings.TrimSpace(display(url)); url != "" && url != label && strings.TrimPrefix(url, "mailto:") != label {
		p.put(token{text: " (" + url + ")", flags: away, link: link})
	}
	return n + 1
}

// target gives the address of "(url title)" and the length of it, 0 when it is none.
func target(s string) (url string, n int) {
	if s == "" || s[0] != '(' {
		return "", 0
	}
	i := 1 + blanks(s[1:])
	if i < len(s) && s[i] == '<' {
		end := strings.IndexAny(s[i:], ">\n")
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
		end := strings.IndexByte(s[i+1:], s[i])
		if end < 0 || end > maxURL {
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

// display gives an address as it is shown: one line.
func display(url string) string { return strings.Join(strings.Fields(url), " ") }

// safeURL gives an address that may stand in a link of the terminal, "" when it is not
// one of the web or holds anything but what addresses are made of.
func safeURL(url string) string {
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") || len(url) > maxURL {
		return ""
	}
	for i := range len(url) {
		if c := url[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>[\]^{|}`+"`", c) >= 0 {
			return ""
		}
	}
	return url
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
		p.put(token{text: "\n"})
		return end + 1
	case safeURL(text) != "":
		p.flush(i)
		p.put(token{text: text, flags: linked, link: text})
		return end + 1
	}
	return 0
}

// bare reads an address that stands in the text.
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
	p.put(token{text: rest[:n], flags: linked, link: safeURL(rest[:n])})
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
	p.put(token{text: strings.ReplaceAll(cell.Clean(text), "\n", " ")})
	return end + 1
}

// lineBreak reads the end of a line: a blank, or a break behind two blanks.
func (p *inline) lineBreak(i int) int {
	text := strings.TrimRight(p.src[p.plain:i], " ")
	hard := i-p.plain-len(text) >= 2
	p.flush(p.plain + len(text))
	if hard {
		p.put(token{text: "\n"})
	} else {
		p.put(token{text: " "})
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
			t.text, t.mark = t.text[:t.n], 0
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
			p.over(p.marks[m]+1, k, struck)
			o.n, c.n = 0, 0
			p.marks = p.marks[:m]
			return
		}
		if (o.close || c.open) && (len(o.text)+len(c.text))%3 == 0 && (len(o.text)%3 != 0 || len(c.text)%3 != 0) {
			continue
		}
		for o.n > 0 && c.n > 0 {
			use, flag := 1, uint8(emphasis)
			if o.n >= 2 && c.n >= 2 {
				use, flag = 2, strong
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

func (p *inline) over(from, to int, flag uint8) {
	for k := from; k < to; k++ {
		p.tokens[k].flags |= flag
	}
}

// styles are the looks of a text, by the flags of its tokens.
type styles struct {
	th   *theme.Theme
	base theme.Style
}

func (s styles) of(flags uint8) theme.Style {
	st := s.base
	if flags&linked != 0 {
		st = st.With(s.th.Link)
	}
	if flags&away != 0 {
		st = st.With(s.th.Dim)
	}
	if flags&code != 0 {
		st = st.With(s.th.Code)
	}
	if flags&strong != 0 {
		st = st.With(s.th.Strong)
	}
	if flags&emphasis != 0 {
		st = st.With(s.th.Emphasis)
	}
	if flags&struck != 0 {
		st = st.With(s.th.Struck)
	}
	return st
}

// inlineFlow gives a text with its marks read.
func inlineFlow(src string, s styles) *flow {
	f := &flow{text: make([]byte, 0, len(src)+16)}
	for _, t := range parseInline(src) {
		f.add(t.text, s.of(t.flags), t.link)
	}
	return f
}
