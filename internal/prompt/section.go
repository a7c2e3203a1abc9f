package prompt

import (
	"strings"
)

const (
	// budgetPercent is how much of the window the system prompt may take.
	budgetPercent = 15
	// bytesPerToken is a careful estimate for English text and code.
	bytesPerToken = 4
)

// part is a section before it is rendered: a fixed text, or a head and sources,
// of which those in front are cut first.
type part struct {
	name     string
	priority int
	text     string
	head     string
	sources  []source
}

type source struct {
	path    string
	scope   string // builtin, user, project, session
	tag     string // the mark that the content stands in, "" for none
	content string
}

func (s source) render() string {
	if s.tag == "" {
		return s.content
	}
	return "<" + s.tag + " path=\"" + inline(s.path) + "\">\n" + s.content + "\n</" + s.tag + ">"
}

func (p part) render() string {
	if p.text != "" || len(p.sources) == 0 {
		return p.text
	}
	blocks := []string{p.head}
	for _, s := range p.sources {
		blocks = append(blocks, s.render())
	}
	return strings.Join(blocks, "\n\n")
}

// label names a source in the list of what was cut.
func (p part) label(s source) string {
	if s.path == "" {
		return p.name
	}
	return p.name + ": " + s.path
}

// cutMark stands where a source was cut.
const cutMark = "\n[cut here: the system prompt would be too long]"

// fit cuts parts until all of them have at most budget bytes, and names what was
// cut. The part with the lowest priority goes first, in it the source in front;
// the last source of a part keeps what fits of its beginning. The baseline stays
// whole.
func fit(parts []part, budget int) []string {
	var cut []string
	for {
		over := -budget
		low := -1
		for i, p := range parts {
			if text := p.render(); text != "" {
				over += len(text) + len("\n\n")
				if p.name != "baseline" && (low < 0 || p.priority < parts[low].priority) {
					low = i
				}
			}
		}
		if over <= 0 || low < 0 {
			return cut
		}
		p := &parts[low]
		if p.text != "" {
			cut = append(cut, p.name)
			p.text, p.sources = "", nil
			continue
		}
		first := &p.sources[0]
		name := p.label(*first)
		if len(cut) == 0 || cut[len(cut)-1] != name {
			cut = append(cut, name)
		}
		const least = 400 // bytes; less of a file says nothing
		keep := len(first.content) - over - len(cutMark)
		if len(p.sources) > 1 || keep < least {
			p.sources = p.sources[1:]
			continue
		}
		first.content = head(first.content, keep) + cutMark
	}
}

// head gives at most n bytes from the front of s, ending at a line if there is
// one near, and never inside a character.
func head(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	if at := strings.LastIndexByte(s[:n], '\n'); at > n/2 {
		n = at
	}
	return s[:n]
}
