package terminal

import (
	"strings"
	"unicode/utf8"

	"scorel/internal/text/cell"
	"scorel/internal/text/style"
)

// flow is text with styles that is to be broken into lines. A newline in it breaks.
type flow struct {
	text   []byte
	runs   []run
	source string // of a cell of a table
	wide   int    // its width and 1, once it is known
}

// run is how the text looks from the end of the run before up to its own.
type run struct {
	end   int
	style style.Style
	link  string
}

func (f *flow) add(text string, look style.Style, link string) {
	if text == "" {
		return
	}
	f.text = append(f.text, text...)
	if n := len(f.runs); n > 0 && f.runs[n-1].style == look && f.runs[n-1].link == link {
		f.runs[n-1].end = len(f.text)
		return
	}
	f.runs = append(f.runs, run{len(f.text), look, link})
}

// piece is a line of a flow: its bytes and its width.
type piece struct{ from, to, width int }

// pieces breaks the flow into lines of at most width cells, between words if soft.
func (f *flow) pieces(width int, soft bool) []piece {
	width = max(1, width)
	if len(f.text) <= width && short(f.text) {
		return []piece{{0, len(f.text), len(f.text)}}
	}
	var out []piece
	start, w := 0, 0            // the line
	brk, brkTo, brkW := 0, 0, 0 // where it may be broken: the next line begins at brk, this one ends at brkTo
	end := func(to, width, next int) {
		out = append(out, piece{start, to, width})
		start, brk = next, 0
	}
	for i := 0; i < len(f.text); {
		c := f.text[i]
		if c == '\n' {
			to := i
			for soft && to > start && f.text[to-1] == ' ' {
				to--
				w--
			}
			end(to, w, i+1)
			i++
			w = 0
			continue
		}
		n, cw := cell.First(f.text[i:])
		if c == ' ' && soft {
			if brk == 0 || brk != i || f.text[i-1] != ' ' {
				brkTo, brkW = i, w
			}
			brk = i + 1
			if w >= width { // blanks at the end of a line hang over
				w++
				i++
				continue
			}
		} else if w+cw > width && i > start {
			switch {
			case soft && cw > 1 && brk != i: // before a wide character
				end(i, w, i)
				w = 0
				continue
			case soft && brk > start:
				at, rest := brk, w-brkW-(brk-brkTo)
				end(brkTo, brkW, at)
				w = rest
				continue
			default:
				end(i, w, i)
				w = 0
				continue
			}
		} else if soft && cw > 1 && i > start && brk != i { // wide characters break anywhere
			brk, brkTo, brkW = i, i, w
		}
		w += cw
		i += n
	}
	if start < len(f.text) || len(out) == 0 || f.text[len(f.text)-1] == '\n' {
		to := len(f.text)
		for soft && to > start && f.text[to-1] == ' ' {
			to--
			w--
		}
		out = append(out, piece{start, to, w})
	}
	return out
}

func short(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf || c == '\n' {
			return false
		}
	}
	return len(text) == 0 || text[len(text)-1] != ' '
}

// line returns a piece as a line that is complete in itself.
func (f *flow) line(p piece) string {
	var b strings.Builder
	b.Grow(p.to - p.from + 16)
	from := 0
	for _, r := range f.runs {
		lo, hi := max(from, p.from), min(r.end, p.to)
		from = r.end
		if lo >= hi {
			if from >= p.to {
				break
			}
			continue
		}
		text := f.text[lo:hi]
		if r.link != "" {
			b.WriteString("\x1b]8;;" + r.link + "\x1b\\")
		}
		if r.style != "" {
			b.WriteString(string(r.style))
		}
		b.Write(text)
		if r.style != "" {
			b.WriteString("\x1b[m")
		}
		if r.link != "" {
			b.WriteString("\x1b]8;;\x1b\\")
		}
	}
	return b.String()
}

// lines breaks the flow and returns its lines.
func (f *flow) lines(width int, soft bool) []string {
	ps := f.pieces(width, soft)
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = f.line(p)
	}
	return out
}

// from returns the flow from a byte on.
func (f *flow) from(at int) *flow {
	rest := &flow{text: f.text[at:]}
	for _, r := range f.runs {
		if r.end > at {
			r.end -= at
			rest.runs = append(rest.runs, r)
		}
	}
	return rest
}

// natural returns the width of the longest line.
func (f *flow) natural() int {
	if f.wide == 0 {
		f.wide = 1
		for _, p := range f.pieces(1<<30, false) {
			f.wide = max(f.wide, p.width+1)
		}
	}
	return f.wide - 1
}
