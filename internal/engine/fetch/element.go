package fetch

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// element is the beginning of an element, with the attributes that matter.
type element struct {
	tag       atom.Atom // 0 for an unknown one
	name      string
	href, src string
	alt       string // also alttext of math
	class     string
	role      string
	start     int
	hidden    bool
}

func readElement(z *html.Tokenizer) element {
	name, more := z.TagName()
	e := element{tag: atom.Lookup(name), name: string(name)}
	for n := 0; more && n < maxAttrs; n++ {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "href":
			e.href = string(value)
		case "src":
			e.src = string(value)
		case "alt", "alttext":
			e.alt = string(value)
		case "class":
			e.class = string(value)
		case "role":
			e.role = strings.ToLower(string(value))
		case "start":
			if v, err := strconv.Atoi(string(value)); err == nil && v > 0 && v < 1_000_000 {
				e.start = v
			}
		case "hidden":
			e.hidden = e.hidden || !strings.EqualFold(string(value), "until-found")
		case "aria-hidden":
			e.hidden = e.hidden || strings.EqualFold(string(value), "true")
		case "style":
			e.hidden = e.hidden || hiddenStyle(string(value))
		case "type":
			e.hidden = e.hidden || e.tag == atom.Input
		}
	}
	return e
}

// hiddenStyle reports whether a style hides its element from people.
func hiddenStyle(style string) bool {
	for decl := range strings.SplitSeq(style, ";") {
		key, value, _ := strings.Cut(decl, ":")
		value = strings.ToLower(strings.TrimSpace(value))
		value = strings.TrimSpace(strings.TrimSuffix(value, "!important"))
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "opacity", "font-size":
			if n, err := strconv.ParseFloat(strings.TrimRight(value, "%pxremt"), 64); err == nil && n == 0 {
				return true
			}
		}
	}
	return false
}

// leftOut reports whether an element is not text for a reader.
func leftOut(e element) bool {
	switch e.tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Embed, atom.Canvas,
		atom.Video, atom.Audio, atom.Select, atom.Datalist, atom.Head, atom.Title, atom.Noembed, atom.Noframes, atom.Map:
		return true
	}
	return e.hidden
}

func isVoid(tag atom.Atom) bool {
	switch tag {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// isBlock reports whether an element begins a line of its own.
func isBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Main, atom.Header, atom.Footer, atom.Nav, atom.Aside, atom.Address,
		atom.Figure, atom.Figcaption, atom.Form, atom.Fieldset, atom.Legend, atom.Details, atom.Summary, atom.Dl, atom.Dt, atom.Dd,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Menu, atom.Li, atom.Blockquote, atom.Pre,
		atom.Table, atom.Caption, atom.Hr, atom.Hgroup, atom.Body, atom.Html, atom.Center, atom.Dialog, atom.Option, atom.Search:
		return true
	}
	return false
}

// blockLines returns how many newlines stand around a block.
func blockLines(tag atom.Atom) int {
	switch tag {
	case atom.Div, atom.Section, atom.Header, atom.Footer, atom.Nav, atom.Form, atom.Legend, atom.Summary, atom.Figcaption, atom.Address, atom.Option, atom.Dt, atom.Dd:
		return 1
	}
	return 2
}

// head is what is known of a page before it is converted.
type head struct {
	title    string
	base     *url.URL
	from, to int // the part of the source that is shown
}

const (
	maxTitle = 300 // characters
	// A main part with less text than this, and with less than half of the text
	// of the page, is an empty shell.
	minMain = 200
)

// part is a main part of a page.
type part struct {
	tag      string // its end tag
	from, to int    // to is 0 while it is open
	depth    int    // elements of its tag that are open
	text     int    // bytes of its text
	count    int    // how many there are
}

func (p *part) open() bool { return p.count > 0 && p.to == 0 }

// begin makes p the part that begins at an offset.
func (p *part) begin(tag string, at int) { *p = part{tag: tag, from: at, depth: 1, count: 1} }

// end closes an element of the part's tag, which ends at an offset.
func (p *part) end(tag string, at int) {
	if !p.open() || tag != p.tag {
		return
	}
	if p.depth--; p.depth == 0 {
		p.to = at
	}
}

// headReader reads the head of a page.
type headReader struct {
	head
	z       *html.Tokenizer
	pos     int // the end of the token that was read last
	based   bool
	main    part
	article part
	text    int  // bytes of text in the page
	quiet   bool // the next text is not shown
}

// headOf looks through a page for its title, its base and its main part: the
// first main element, or else an article that is the only one.
func headOf(source string, pageURL *url.URL) head {
	r := headReader{head: head{base: pageURL, to: len(source)}, z: html.NewTokenizer(strings.NewReader(source))}
	for {
		kind, at := r.z.Next(), r.pos
		raw := r.z.Raw()
		r.pos += len(raw)
		switch kind {
		case html.ErrorToken:
			r.choose(len(source))
			return r.head
		case html.TextToken:
			if r.quiet {
				r.quiet = false
				continue
			}
			r.count(len(strings.TrimSpace(string(raw))))
		case html.StartTagToken, html.SelfClosingTagToken:
			r.quiet = false
			r.start(readElement(r.z), pageURL)
		case html.EndTagToken:
			r.quiet = false
			name, _ := r.z.TagName()
			r.main.end(string(name), at)
			r.article.end(string(name), at)
		}
	}
}

// choose sets what is shown of a page of n bytes.
func (r *headReader) choose(n int) {
	for _, p := range []*part{&r.main, &r.article} {
		if p.open() {
			p.to = n
		}
		if p.count == 1 && (p.text >= minMain || 2*p.text > r.text) {
			r.from, r.to = p.from, p.to
			return
		}
	}
}

// count counts n bytes of text.
func (r *headReader) count(n int) {
	r.text += n
	for _, p := range []*part{&r.main, &r.article} {
		if p.open() {
			p.text += n
		}
	}
}

// start reads the begin of an element.
func (r *headReader) start(e element, pageURL *url.URL) {
	switch e.tag {
	case atom.Title:
		r.readTitle()
		return
	case atom.Base:
		r.readBase(e.href, pageURL)
		return
	case atom.Script, atom.Style, atom.Noscript, atom.Iframe:
		r.quiet = true
		return
	}
	if e.hidden {
		return
	}
	switch {
	case r.main.count == 0 && (e.tag == atom.Main || e.role == "main"):
		r.main.begin(e.name, r.pos)
	case r.main.open() && e.name == r.main.tag:
		r.main.depth++
	}
	switch {
	case e.tag != atom.Article:
	case r.article.count == 0:
		r.article.begin("article", r.pos)
	case r.article.open():
		r.article.depth++ // comments below an article are articles too
	default:
		r.article.count++
	}
}

// readTitle reads the text of a title; the first counts.
func (r *headReader) readTitle() {
	if r.title != "" {
		return
	}
	kind := r.z.Next()
	r.pos += len(r.z.Raw())
	if kind == html.TextToken {
		r.title = oneLine(string(r.z.Text()), maxTitle)
	}
}

// readBase reads the address that others are relative to; the first that is one counts.
func (r *headReader) readBase(href string, pageURL *url.URL) {
	if r.based || pageURL == nil || len(href) > maxLink {
		return
	}
	if u, err := pageURL.Parse(href); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		r.base, r.based = u, true
	}
}
