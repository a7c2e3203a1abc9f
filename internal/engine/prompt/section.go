package prompt

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// budgetPercent is how much of the window the system prompt may take.
	budgetPercent = 15
	// bytesPerToken is a careful estimate for English text and code.
	bytesPerToken = 4
)

// part is a section before it is rendered: a fixed text, or a head and sources.
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

// cutMark is where a source was cut.
const cutMark = "\n[cut here: the system prompt would be too long]"

// cutting is what was cut, and of a source that is in part still there its bytes.
type cutting struct {
	name     string
	now, was int // bytes of a source; 0 and 0 of a whole section
}

// left returns how much of it remains, as the end of a sentence.
func (c cutting) left() string {
	switch {
	case c.was == 0:
		return ""
	case c.now == 0:
		return ": it is left out"
	}
	return fmt.Sprintf(" to its first %d of %d bytes", c.now, c.was)
}

// fit cuts parts until all of them have at most budget bytes, and names what was
// cut. The part with the lowest priority is cut first: a text goes, of sources as much
// stays as there is room for. The baseline stays whole.
func fit(parts []part, budget int) []cutting {
	var cut []cutting
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
			cut = append(cut, cutting{name: p.name})
			p.text, p.sources = "", nil
			continue
		}
		cut = append(cut, p.squeeze(len(p.render())-over)...)
	}
}

// least is how many bytes of a source are kept at least; less of one says nothing.
const least = 400

// squeeze cuts the sources of a part, which has too many, so that it has at most room
// bytes: the user's own are kept first, with at most half of the room where there are
// others; these share the rest evenly. Where that is too little for each, those in
// front, of the folders farthest away, are left out.
func (p *part) squeeze(room int) []cutting {
	all := p.sources
	for drop := 0; ; drop++ {
		kept := dropFirst(all, drop)
		if len(kept) == 0 {
			p.sources = nil
			break
		}
		left := room - len(p.head)
		for _, s := range kept {
			left -= len("\n\n") + len(s.render()) - len(s.content)
		}
		sizes := shares(kept, left)
		small := false
		for i, s := range kept {
			small = small || sizes[i] < len(s.content) && sizes[i] < least
		}
		if small {
			continue
		}
		p.sources = nil
		for i, s := range kept {
			if sizes[i] < len(s.content) {
				s.content = head(s.content, sizes[i]-len(cutMark)) + cutMark
			}
			p.sources = append(p.sources, s)
		}
		break
	}
	var cut []cutting
	for _, was := range all {
		c := cutting{name: p.label(was), was: len(was.content)}
		for _, s := range p.sources {
			if s.path == was.path && s.scope == was.scope {
				c.now = len(strings.TrimSuffix(s.content, cutMark))
			}
		}
		if c.now != c.was {
			cut = append(cut, c)
		}
	}
	return cut
}

// dropFirst is a list without its first n sources that are not the user's own, and then
// without those.
func dropFirst(all []source, n int) []source {
	var kept, own []source
	for _, s := range all {
		if s.scope == "user" {
			own = append(own, s)
		} else {
			kept = append(kept, s)
		}
	}
	if n <= len(kept) {
		return append(own, kept[n:]...)
	}
	return own[min(n-len(kept), len(own)):]
}

// shares returns how many bytes of room each source gets, at most those that it has.
func shares(list []source, room int) []int {
	out := make([]int, len(list))
	var own, others []int // by place
	total, size := 0, 0
	for i, s := range list {
		total += len(s.content)
		if s.scope == "user" {
			own, size = append(own, i), size+len(s.content)
		} else {
			others = append(others, i)
		}
	}
	if total <= room {
		for i, s := range list {
			out[i] = len(s.content)
		}
		return out
	}
	first := min(size, room)
	if len(others) > 0 {
		first = min(size, max(room/2, room-(total-size)))
	}
	even(list, out, own, first)
	even(list, out, others, room-first)
	return out
}

// even shares room among the sources at some places: what a short one does not need the
// longer ones get.
func even(list []source, out, places []int, room int) {
	rest := slices.Clone(places)
	slices.SortFunc(rest, func(a, b int) int { return len(list[a].content) - len(list[b].content) })
	for i, at := range rest {
		out[at] = max(0, min(len(list[at].content), room/(len(rest)-i)))
		room -= out[at]
	}
}

// head returns at most n bytes from the front of s, ending at a line if there is
// one near, and never inside a character.
func head(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	const near = 1 << 10
	if at := strings.LastIndexByte(s[:n], '\n'); at > max(n/2, n-near) {
		n = at
	}
	return s[:n]
}
