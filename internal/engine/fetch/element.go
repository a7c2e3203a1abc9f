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

// leftOut reports whether an element is no text for a reader.
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

// part is a main part that was found.
type part struct {
	from, to int // to is 0 while it is open
	depth    int
	text     int
	count    int
}

// headOf looks through a page for its title, its base and its main part: the
// first main element, or else an article that is the only one.
func headOf(source string, pageURL *url.URL) head {
	h := head{base: pageURL, to: len(source)}
	z := html.NewTokenizer(strings.NewReader(source))
	var main, article part
	var mainTag string
	based, total, pos, quiet := false, 0, 0, 0
	for {
		kind := z.Next()
		at := pos
		pos += len(z.Raw())
		switch kind {
		case html.ErrorToken:
			for _, p := range []*part{&main, &article} {
				if p.count > 0 && p.to == 0 {
					p.to = len(source)
				}
				if p.count == 1 && (p.text >= minMain || 2*p.text > total) {
					h.from, h.to = p.from, p.to
					return h
				}
			}
			return h
		case html.TextToken:
			if quiet > 0 {
				quiet--
				continue
			}
			n := len(strings.TrimSpace(string(z.Raw())))
			total += n
			for _, p := range []*part{&main, &article} {
				if p.count > 0 && p.to == 0 {
					p.text += n
				}
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			e := readElement(z)
			quiet = 0
			switch e.tag {
			case atom.Title:
				if h.title == "" {
					if z.Next() == html.TextToken {
						pos += len(z.Raw())
						h.title = oneLine(string(z.Text()), maxTitle)
					} else {
						pos += len(z.Raw())
					}
				}
				continue
			case atom.Base:
				if !based && pageURL != nil {
					if u, err := pageURL.Parse(e.href); err == nil && (u.Scheme == "http" || u.Scheme == "https") && len(e.href) <= maxLink {
						h.base, based = u, true
					}
				}
				continue
			case atom.Script, atom.Style, atom.Noscript, atom.Iframe:
				quiet = 1
				continue
			}
			if e.hidden {
				continue
			}
			switch {
			case main.count == 0 && (e.tag == atom.Main || e.role == "main"):
				main, mainTag = part{from: pos, depth: 1, count: 1}, e.name
			case main.count > 0 && main.to == 0 && e.name == mainTag:
				main.depth++
			}
			if e.tag == atom.Article {
				switch {
				case article.count == 0:
					article = part{from: pos, depth: 1, count: 1}
				case article.to == 0:
					article.depth++ // comments below an article are articles too
				default:
					article.count++
				}
			}
		case html.EndTagToken:
			quiet = 0
			name, _ := z.TagName()
			if main.count > 0 && main.to == 0 && string(name) == mainTag {
				if main.depth--; main.depth == 0 {
					main.to = at
				}
			}
			if article.count > 0 && article.to == 0 && string(name) == "article" {
				if article.depth--; article.depth == 0 {
					article.to = at
				}
			}
		}
	}
}
