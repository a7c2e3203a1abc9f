package export

import (
	"strconv"
	"strings"

	"scorel/internal/text/markdown"
)

// maxMarkdown bounds what is rendered as Markdown, in bytes of a text. Beyond, text is
// shown as it is.
const maxMarkdown = 128 << 10

// markdownHTML renders text as HTML of a fixed set of tags. Raw HTML comes out as text.
func markdownHTML(text string) string {
	if len(text) > maxMarkdown {
		return `<p class="plain">` + escape(text) + "</p>\n"
	}
	r := renderer{tokens: markdown.Tokens(text)}
	r.blocks()
	return r.String()
}

// renderer renders tokens.
type renderer struct {
	strings.Builder
	tokens []markdown.Token // what follows
}

// next returns the next token, and takes it.
func (r *renderer) next() markdown.Token {
	t := r.tokens[0]
	r.tokens = r.tokens[1:]
	return t
}

// at reports whether the next token is of a kind.
func (r *renderer) at(k markdown.Kind) bool { return len(r.tokens) > 0 && r.tokens[0].Kind == k }

// blocks renders tokens up to the end of the container that they are in.
func (r *renderer) blocks() {
	for len(r.tokens) > 0 && !r.at(markdown.End) {
		if r.at(markdown.Item) {
			r.list()
			continue
		}
		switch t := r.next(); t.Kind {
		case markdown.Paragraph:
			r.element("p", t.Text)
		case markdown.HTML: // as text, of which the marks count
			r.element("p", trimLeft(t.Text))
		case markdown.Heading: // below those of the page
			r.element("h"+strconv.Itoa(min(t.Level+2, 6)), t.Text)
		case markdown.Rule:
			r.WriteString("<hr>\n")
		case markdown.Code:
			r.code(t)
		case markdown.Table:
			r.table(len(t.Aligns))
		case markdown.Quote:
			r.WriteString("<blockquote>\n")
			r.blocks()
			r.next()
			r.WriteString("</blockquote>\n")
		}
	}
}

// trimLeft returns a text without the blanks that its lines begin with.
func trimLeft(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, " \t")
	}
	return strings.Join(lines, "\n")
}

// element renders a text in a tag.
func (r *renderer) element(tag, text string) {
	r.WriteString("<" + tag + ">")
	r.inline(text)
	r.WriteString("</" + tag + ">\n")
}

func (r *renderer) code(t markdown.Token) {
	var lines []string
	for r.at(markdown.CodeLine) {
		lines = append(lines, r.next().Text)
	}
	r.next()
	r.WriteString(`<pre class="code"`)
	if info, _, _ := strings.Cut(strings.TrimSpace(t.Text), " "); info != "" {
		r.WriteString(` title="` + escape(info) + `"`)
	}
	r.WriteString(`><code>` + escape(strings.TrimRight(strings.Join(lines, "\n"), "\n")) + "</code></pre>\n")
}

func (r *renderer) table(columns int) {
	row := func(tag string) {
		r.WriteString("<tr>")
		for _, c := range r.next().Cells[:columns] {
			r.WriteString("<" + tag + ">")
			r.inline(c)
			r.WriteString("</" + tag + ">")
		}
		r.WriteString("</tr>\n")
	}
	r.WriteString("<div class=\"wide\"><table>\n<thead>")
	row("th")
	r.WriteString("</thead>\n<tbody>\n")
	for r.at(markdown.Row) {
		row("td")
	}
	r.next()
	r.WriteString("</tbody></table></div>\n")
}

// list renders the items of a list. Blank lines between them make it no other.
func (r *renderer) list() {
	first := r.tokens[0].List
	tag := "ul"
	if first.Ordered() {
		tag = "ol"
	}
	r.WriteString("<" + tag)
	if first.Ordered() && first.Number != 1 {
		r.WriteString(` start="` + strconv.Itoa(first.Number) + `"`)
	}
	r.WriteString(">\n")
	for again := true; again; again = r.at(markdown.Item) && !r.tokens[0].List.First {
		r.next()
		r.item()
		for r.at(markdown.Blank) {
			r.next()
		}
	}
	r.WriteString("</" + tag + ">\n")
}

// item renders what is in an item: one line as it is, and else blocks.
func (r *renderer) item() {
	box := ""
	if r.at(markdown.Paragraph) {
		text := &r.tokens[0].Text
		for mark, shown := range map[string]string{"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "} {
			if rest, ok := strings.CutPrefix(*text, mark); ok {
				box, *text = shown, rest
				break
			}
		}
	}
	r.WriteString("<li>" + box)
	if n := r.single(); n > 0 {
		r.inline(r.tokens[0].Text)
		r.tokens = r.tokens[n:]
	} else {
		r.blocks()
	}
	r.next()
	r.WriteString("</li>\n")
}

// single returns how many tokens are in an item that is one line; 0 when it is more.
func (r *renderer) single() int {
	if !r.at(markdown.Paragraph) || strings.Contains(r.tokens[0].Text, "\n") {
		return 0
	}
	n := 1
	for r.tokens[n].Kind == markdown.Blank {
		n++
	}
	if r.tokens[n].Kind != markdown.End {
		return 0
	}
	return n
}
