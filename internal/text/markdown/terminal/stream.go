package terminal

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"scorel/internal/text/cell"
	"scorel/internal/text/markdown"
	"scorel/internal/text/style"
)

// Bounds of the work that one piece of text makes: a longer line is cut in two, a
// longer paragraph ends.
const (
	maxLine      = 4 << 10
	maxParagraph = 4 << 10
)

// A longer open paragraph is read again only when it has grown by 1/eager of itself;
// what has come since is shown as it is until then.
const (
	lazyFrom = 1 << 10
	eager    = 6
)

// Stream makes lines of a text that comes in pieces.
type Stream struct {
	p       *markdown.Parser
	r       *renderer
	partial []byte // the line that is not complete, as it came
	cutLine bool   // it goes on after a cut
	ended   bool

	tail  []string // of the open blocks, as drawn last
	drawn bool     // tail is so
	lazy  lazy
}

// lazy is an open paragraph as it was read last.
type lazy struct {
	id, size int      // which one, and how many bytes it had; 0 for none
	lines    []string // all but the last line
	last     *flow    // what is in that
}

// New makes a stream of lines of at most width cells, or some more where a single
// character is wider.
func New(th *style.Theme, width int) *Stream {
	return &Stream{p: &markdown.Parser{MaxParagraph: maxParagraph}, r: &renderer{th: th, width: max(1, width)}}
}

// Lines returns the lines of a whole text.
func Lines(th *style.Theme, width int, text string) []string {
	s := New(th, width)
	s.Write([]byte(text))
	s.End()
	return s.Take()
}

// Write adds a piece of the text, as it came: any bytes, cut anywhere. Nothing follows
// End.
func (s *Stream) Write(p []byte) {
	if len(p) == 0 || s.ended {
		return
	}
	s.drawn = false
	s.partial = append(s.partial, p...)
	done := 0
	for {
		rest := s.partial[done:]
		n := bytes.IndexByte(rest[:min(len(rest), maxLine)], '\n')
		switch {
		case n >= 0:
			s.line(rest[:n])
			s.cutLine = false
			done += n + 1
		case len(rest) > maxLine:
			n = cutAt(rest[:maxLine])
			s.line(rest[:n])
			s.cutLine = true
			done += n
		default:
			s.partial = append(s.partial[:0], rest...)
			return
		}
	}
}

// cutAt returns where a line that is too long is cut: after a blank, else between two
// characters.
func cutAt(line []byte) int {
	if n := bytes.LastIndexByte(line, ' ') + 1; n > len(line)/2 {
		return n
	}
	n := len(line)
	for k := 1; k < utf8.UTFMax && k < n; k++ {
		if utf8.RuneStart(line[n-k]) {
			if !utf8.FullRune(line[n-k:]) {
				n -= k
			}
			break
		}
	}
	return n
}

// line reads a complete line.
func (s *Stream) line(raw []byte) {
	s.p.Feed(clean(raw), s.cutLine)
	s.r.render(s.p.Take())
}

// clean returns the text of a line. It may hold line breaks: those that are not \n.
func clean(raw []byte) string {
	return cell.Clean(string(bytes.TrimSuffix(raw, []byte("\r"))))
}

// Resize sets the width and theme of the lines that Take has not given.
func (s *Stream) Resize(th *style.Theme, width int) {
	s.r.resize(th, max(1, width))
	s.drawn, s.lazy = false, lazy{}
}

// End says that nothing follows: all lines are finished.
func (s *Stream) End() {
	if s.ended {
		return
	}
	s.ended, s.drawn = true, true
	if len(s.partial) > 0 {
		s.line(s.partial)
	}
	s.p.End()
	s.r.render(s.p.Take())
	s.tail, s.partial = nil, nil
}

// Take returns the finished lines that it has not given: more text cannot change them.
func (s *Stream) Take() []string {
	lines := s.r.out
	s.r.out = nil
	return lines
}

// Done returns the finished lines that Take has not given, and leaves them to it. They
// must not be changed.
func (s *Stream) Done() []string { return s.r.out }

// Tail returns the lines that are not finished. They must not be changed.
func (s *Stream) Tail() []string {
	if s.drawn {
		return s.tail
	}
	s.drawn = true
	p, r := s.p.Fork(), s.r.fork()
	text := clean(s.partial)
	if !unsure(text) || s.cutLine {
		p.Feed(text, s.cutLine)
		r.render(p.Take())
	}
	if text, _, open := p.Paragraph(); open && len(text) >= lazyFrom && len(r.out) == 0 {
		s.tail = s.paragraph(p, r)
		return s.tail
	}
	p.End()
	r.render(p.Take())
	s.tail = r.out
	return s.tail
}

// paragraph returns the lines of a long paragraph that is open.
func (s *Stream) paragraph(p *markdown.Parser, r *renderer) []string {
	text, id, _ := p.Paragraph()
	l := &s.lazy
	if grown := len(text) - l.size; l.id == id && l.size > 0 && grown >= 0 && grown < l.size/eager {
		f := flow{text: bytes.Clone(l.last.text), runs: append([]run(nil), l.last.runs...)}
		f.add(strings.ReplaceAll(string(text[l.size:]), "\n", " "), r.base(), "")
		return append(l.lines[:len(l.lines):len(l.lines)], r.under(f.lines(r.room(), true))...)
	}
	l.id, l.size = id, len(text)
	f := r.flow(text)
	ps := f.pieces(r.room(), true)
	at := ps[len(ps)-1]
	l.last = f.from(at.from)
	p.End()
	r.render(p.Take())
	l.lines = r.out[:len(r.out)-1]
	return r.out
}

// unsure says of the beginning of a line that what it is shows only in what follows:
// the marks of a heading or list, a rule, a fence.
func unsure(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) <= 4 && strings.Trim(text, "-=*_`~#+>|:.)0123456789") == ""
}
