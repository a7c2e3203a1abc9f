package fetch

import "strings"

// writer writes Markdown: it collapses white space, begins blocks and lines, and
// escapes what would make a link or HTML of plain text.
type writer struct {
	b      strings.Builder
	limit  int         // bytes after which nothing more is written
	cell   bool        // all in one line
	lead   string      // is before the next text: of a heading or a definition
	need   int         // newlines wanted before the next text
	space  bool        // a space is wanted before the next text
	in     []container // quotes and list items around the next text
	line   bool        // something is in the current line, after the prefix
	last   byte        // the last byte of text, 0 where none can matter
	before func()      // writes the marks that wait for text
}

// container is a quote, or an item of a list.
type container struct {
	first string // is before its first line
	rest  string // is before its further lines
	begun bool
}

// maxNesting bounds the prefix of a line, in containers.
const maxNesting = 16

func (w *writer) full() bool { return w.b.Len() >= w.limit }

// block wants n newlines before what follows; in a cell and in a heading it is a
// space.
func (w *writer) block(n int) {
	if w.cell || w.lead != "" && w.line {
		w.space = true
		return
	}
	w.need = max(w.need, n)
	w.space = false
}

// flush writes what must be before a text.
func (w *writer) flush() {
	if w.need > 0 || !w.line {
		if w.b.Len() > 0 && w.need > 0 {
			w.b.WriteByte('\n')
			for i := 1; i < w.need; i++ {
				w.b.WriteString(strings.TrimRight(w.prefix(false), " "))
				w.b.WriteByte('\n')
			}
		}
		w.b.WriteString(w.prefix(true))
		w.b.WriteString(w.lead)
		w.need, w.line, w.space, w.last = 0, true, false, 0
		return
	}
	if w.space {
		w.b.WriteByte(' ')
		w.space, w.last = false, ' '
	}
}

// prefix returns what is before a line; a line with text begins the items that
// have not begun.
func (w *writer) prefix(text bool) string {
	if len(w.in) == 0 {
		return ""
	}
	var p strings.Builder
	for i := range w.in {
		c := &w.in[i]
		if text && !c.begun {
			p.WriteString(c.first)
			c.begun = true
			continue
		}
		if !c.begun {
			continue // the blank line before an item does not belong to it
		}
		p.WriteString(c.rest)
	}
	return p.String()
}

// put writes s as it is: it is Markdown.
func (w *writer) put(s string) {
	if s == "" || w.full() {
		return
	}
	w.flush()
	if w.before != nil {
		w.before()
	}
	w.b.WriteString(s)
	w.last = 0
}

// text writes words of a page.
func (w *writer) text(s string, escape bool) {
	for s != "" && !w.full() {
		i := strings.IndexFunc(s, isSpace)
		switch {
		case i < 0:
			i = len(s)
		case i == 0:
			w.space = w.line
			s = strings.TrimLeftFunc(s, isSpace)
			continue
		}
		w.word(s[:i], escape, i < len(s))
		s = s[i:]
	}
}

func isSpace(r rune) bool {
	return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' || r == 0xa0
}

// word writes one word; ended says that white space follows.
func (w *writer) word(s string, escape, ended bool) {
	w.flush()
	first := w.last == 0
	if w.before != nil {
		w.before()
	}
	if !escape {
		w.b.WriteString(s)
		w.last = s[len(s)-1]
		return
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '(', ':':
			if w.last == ']' { // would make a link, or a definition of one
				w.b.WriteByte('\\')
			}
		case '<': // HTML, or a link
			if i+1 == len(s) && !ended || i+1 < len(s) && (s[i+1] >= 0x80 || letter(s[i+1]) || s[i+1] == '/' || s[i+1] == '!' || s[i+1] == '?') {
				w.b.WriteByte('\\')
			}
		case '`', '~': // a fence
			if first && i == 0 {
				w.b.WriteByte('\\')
			}
		}
		w.b.WriteByte(c)
		w.last = c
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// lines writes lines that keep their white space, each after the prefix.
func (w *writer) lines(s string) {
	for l := range strings.Lines(s) {
		if w.full() {
			return
		}
		w.need = max(w.need, 1)
		w.flush()
		w.b.WriteString(strings.TrimRight(l, "\r\n"))
	}
	w.last = 0
}
