package fetch

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// capture collects code, whose white space counts.
type capture struct {
	tag   atom.Atom
	pre   bool
	lang  string
	depth int
	b     strings.Builder
}

func (k *capture) add(s string) {
	if k.b.Len()+len(s) <= maxShown {
		k.b.WriteString(s)
	}
}

func (k *capture) newline() {
	if s := k.b.String(); s != "" && s[len(s)-1] != '\n' {
		k.add("\n")
	}
}

func (c *converter) beginCode(e element) {
	pre := e.tag == atom.Pre || e.tag == atom.Textarea || e.tag == atom.Listing
	c.code = &capture{tag: e.tag, pre: pre, lang: language(e.class), depth: 1}
}

// codeStart takes an element within code; it reports whether that is all.
func (c *converter) codeStart(e element) bool {
	k := c.code
	if !k.pre && (isBlock(e.tag) || e.tag == atom.Td || e.tag == atom.Th || e.tag == atom.Tr) {
		c.flushCode() // its end is missing
		return false
	}
	switch {
	case e.tag == k.tag && !isVoid(e.tag):
		k.depth++
	case e.tag == atom.Br:
		k.add("\n")
	case k.pre && (isBlock(e.tag) || e.tag == atom.Tr):
		k.newline()
	case k.pre && k.lang == "" && e.tag == atom.Code:
		k.lang = language(e.class)
	}
	return true
}

// codeEnd takes the end of an element within code; it reports whether the element
// is still to be ended by others.
func (c *converter) codeEnd(tag atom.Atom) bool {
	k := c.code
	switch {
	case tag == k.tag:
		if k.depth--; k.depth <= 0 {
			c.flushCode()
		}
	case !k.pre && isBlock(tag):
		c.flushCode()
		return true
	case k.pre && (isBlock(tag) || tag == atom.Tr):
		k.newline()
	}
	return false
}

// flushCode writes the collected code.
func (c *converter) flushCode() {
	k := c.code
	if k == nil {
		return
	}
	c.code = nil
	text := strings.ReplaceAll(k.b.String(), "\r\n", "\n")
	if !k.pre || c.w.cell || c.w.lead != "" {
		if text = strings.Join(strings.Fields(text), " "); text == "" {
			return
		}
		if c.plain {
			c.w.text(text, false)
			return
		}
		ticks := strings.Repeat("`", longestRun(text, '`')+1)
		if text[0] == '`' || text[len(text)-1] == '`' {
			text = " " + text + " "
		}
		c.w.put(ticks + text + ticks)
		return
	}
	text = strings.TrimRight(strings.TrimPrefix(text, "\n"), " \t\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	c.blockStart(2)
	if c.plain {
		c.w.lines(text)
		c.w.block(2)
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	c.w.lines(fence + k.lang + "\n" + text + "\n" + fence)
	c.w.block(2)
}

func longestRun(s string, c byte) int {
	best, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		best = max(best, run)
	}
	return best
}

// language returns the language that the classes of code name, as highlighters
// write them: language-go, lang-go, highlight-source-go.
func language(class string) string {
	for name := range strings.FieldsSeq(class) {
		for _, front := range [...]string{"language-", "lang-", "highlight-source-", "brush:"} {
			l, ok := strings.CutPrefix(strings.ToLower(name), front)
			if ok && l != "" && len(l) <= 20 && !strings.ContainsFunc(l, func(r rune) bool {
				return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '#' && r != '-'
			}) {
				return l
			}
		}
	}
	return ""
}
