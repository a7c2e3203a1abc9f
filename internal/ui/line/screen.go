package line

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"scorel/internal/text/cell"
	"scorel/internal/ui/qrcode"
	"scorel/protocol/display"
)

// style is how text is set off.
type style string

// The styles, as SGR sequences of ECMA-48.
const (
	plainStyle style = ""
	dimStyle   style = "\x1b[2m"
	boldStyle  style = "\x1b[1m"
	alertStyle style = "\x1b[33m"
	codeStyle  style = qrcode.Colours
)

// screen is where a live session is shown. Text comes from outside and is made safe
// here. It is used by one goroutine.
type screen interface {
	// line shows whole lines.
	line(s style, text string)
	// stream adds to the text that is being written.
	stream(s style, text string)
	// endStream ends that text.
	endStream()
	// steps sets the lines that say how far running calls are; none takes them away.
	steps(lines []string)
	// live says that streamed text is seen as it comes.
	live() bool
	// ask sets what is before the input.
	ask(prompt string)
	// flush shows everything.
	flush() error
	// close leaves the screen as it is to stay.
	close()
}

// pipeScreen writes lines for programs and files: no colours, nothing that is taken
// back, and text only when it is stored.
type pipeScreen struct {
	out io.Writer
	err error
}

func (p *pipeScreen) line(_ style, text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.out, strings.TrimRight(display.Text(text), "\n"))
	}
}
func (p *pipeScreen) stream(style, string) {}
func (p *pipeScreen) endStream()           {}
func (p *pipeScreen) steps([]string)       {}
func (p *pipeScreen) live() bool           { return false }
func (p *pipeScreen) ask(string)           {}
func (p *pipeScreen) flush() error         { return p.err }
func (p *pipeScreen) close()               {}

// termScreen shows a session on a terminal. At the bottom are the row that is
// being written, if any, and the input; they are drawn again with every change. What
// is above is finished and never touched again, so nothing that is typed is torn and
// the terminal's own scrolling works.
type termScreen struct {
	out     io.Writer
	columns int
	plain   bool // no colours
	edit    *editor
	prompt  string

	done     bytes.Buffer // finished rows that are not shown yet
	row      []rune       // that is being written
	rowStyle style
	standing []string // lines that say how far calls are
	below    int      // rows that stand below the finished ones: 0 before the first drawing
	err      error
}

// maxSteps bounds the lines that say how far calls are.
const maxSteps = 8

// minColumns is what a terminal has at least; in a narrower one rows wrap.
const minColumns = 8

func newTermScreen(out io.Writer, columns int) *termScreen {
	s := &termScreen{out: out, edit: &editor{}, prompt: "> "}
	s.resize(columns)
	s.done.WriteString("\x1b[?2004h") // pasted text comes between marks
	return s
}

func (s *termScreen) resize(columns int) {
	if columns <= 0 {
		columns = 80 // it does not know
	}
	s.columns = max(minColumns, columns)
}

func (s *termScreen) ask(prompt string) { s.prompt = prompt }

// steps shows at most maxSteps lines, each cut to one row.
func (s *termScreen) steps(lines []string) {
	s.standing = s.standing[:0]
	for _, l := range lines[:min(len(lines), maxSteps)] {
		row, width := []rune{}, 0
		for _, r := range display.Line(l) {
			if width += cell.OfRune(r); width >= s.columns {
				break
			}
			row = append(row, r)
		}
		s.standing = append(s.standing, string(row))
	}
}

func (s *termScreen) line(st style, text string) {
	s.finish()
	s.write(st, strings.TrimRight(text, "\n"))
	s.finish()
	if text == "" {
		s.done.WriteString("\r\n")
	}
}

func (s *termScreen) stream(st style, text string) {
	if st != s.rowStyle && len(s.row) > 0 {
		s.finish()
	}
	s.write(st, text)
}

func (s *termScreen) endStream() { s.finish() }
func (s *termScreen) live() bool { return true }

// write adds text to the row, ending rows that are full.
func (s *termScreen) write(st style, text string) {
	s.rowStyle = st
	for _, r := range display.Text(text) {
		switch r {
		case '\n':
			s.end(s.row)
			s.row = s.row[:0]
			continue
		case '\t':
			r = ' '
		}
		s.row = append(s.row, r)
		if widthOf(s.row) < s.columns {
			continue
		}
		// Full: it ends at the last space, or right here.
		at := len(s.row) - 1
		for at > 0 && s.row[at] != ' ' {
			at--
		}
		if at == 0 {
			last := s.row[len(s.row)-1]
			s.end(s.row[:len(s.row)-1])
			s.row = append(s.row[:0], last)
			continue
		}
		s.end(s.row[:at])
		s.row = append(s.row[:0], s.row[at+1:]...)
	}
}

// finish ends the row that is being written.
func (s *termScreen) finish() {
	if len(s.row) > 0 {
		s.end(s.row)
		s.row = s.row[:0]
	}
}

func (s *termScreen) end(row []rune) { s.put(&s.done, row); s.done.WriteString("\r\n") }

func (s *termScreen) put(to *bytes.Buffer, row []rune) {
	st := s.rowStyle
	if s.plain {
		st = plainStyle
	}
	to.WriteString(string(st))
	to.WriteString(string(row))
	if st != plainStyle {
		to.WriteString("\x1b[m")
	}
}

func (s *termScreen) dim(to *bytes.Buffer, text string) {
	if s.plain {
		to.WriteString(text)
		return
	}
	to.WriteString(string(dimStyle) + text + "\x1b[m")
}

func widthOf(row []rune) int {
	n := 0
	for _, r := range row {
		n += cell.OfRune(r)
	}
	return n
}

// flush draws in one write: takes away what is below, adds what is finished, and
// draws the rest again.
func (s *termScreen) flush() error {
	if s.err != nil {
		return s.err
	}
	var b bytes.Buffer
	s.erase(&b)
	b.Write(s.done.Bytes())
	s.done.Reset()
	s.below = 1
	if len(s.row) > 0 {
		s.put(&b, s.row)
		b.WriteString("\r\n")
		s.below++
	}
	for _, l := range s.standing {
		s.dim(&b, l)
		b.WriteString("\r\n")
		s.below++
	}
	text, cursor := s.edit.view(s.columns - 1 - widthOf([]rune(s.prompt)))
	b.WriteString(s.prompt + text + "\r")
	fmt.Fprintf(&b, "\x1b[%dC", widthOf([]rune(s.prompt))+cursor)
	_, s.err = s.out.Write(b.Bytes())
	return s.err
}

// erase takes away the rows below the finished ones, one by one: some terminals keep
// what goes with the rest of a screen in their history. The cursor is in the last.
func (s *termScreen) erase(b *bytes.Buffer) {
	for i := range s.below {
		if i > 0 {
			b.WriteString("\x1b[1A")
		}
		b.WriteString("\r\x1b[K")
	}
}

func (s *termScreen) close() {
	s.finish()
	var b bytes.Buffer
	s.erase(&b)
	b.Write(s.done.Bytes())
	b.WriteString("\x1b[?2004l")
	_, _ = s.out.Write(b.Bytes())
}
