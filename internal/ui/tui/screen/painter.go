package screen

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"scorel/internal/text/cell"
	"scorel/protocol/display"
)

// chunk is how much is written to the terminal at once, in bytes.
const chunk = 64 << 10

// region is what is on a screen of the terminal.
type region struct {
	lines         []line // at least one
	row, col      int    // of the cursor, from the first line; col is -1 where it is not known
	width, height int    // of the terminal when it was drawn
}

// late is how long after a terminal has another size its program may still draw for
// the old one: tmux tells the size up to a quarter of a second later, and what has
// been written may wait as long to be drawn where the machine is busy.
const late = time.Second

// stood is what stood between the region's beginning and the cursor after a frame.
type stood struct {
	at     time.Time
	widths []int // of the lines above the cursor's, in cells
	col    int   // of the cursor; 0 where it is not known
}

// broken returns how many lines of the terminal these are more once it has broken them
// at a width.
func (s stood) broken(width int) int {
	n := max(s.col, 0) / width
	for _, w := range s.widths {
		n += max(1, (w+width-1)/width) - 1
	}
	return n
}

// painter makes bytes of frames. It belongs to the goroutine that writes.
type painter struct {
	s   *Screen
	out io.Writer
	err error

	output

	width, height int
	full          bool
	inline, whole region
	r             *region // the one that is on
	held          backlog // finished lines that wait for inline mode
	recent        []stood // what stood before the cursor lately, oldest first
	now           func() time.Time
	last          Frame // what stands there
	lastFull      bool  // in full-screen mode
	cursor, drawn bool  // the cursor is to be shown, is shown
	mouse         bool
	title         string
}

// output is what of a painter's bytes is not written.
type output struct {
	body    []byte
	moved   int // lines written and moved since the last flush
	started bool
	queried bool
	wrote   bool // something was written since that was set to false
}

func newPainter(s *Screen) *painter {
	p := &painter{s: s, out: s.out, width: s.options.Width, height: s.options.Height, cursor: true, drawn: true, now: time.Now}
	p.r = &p.inline
	p.inline = region{lines: []line{{whole: true}}, width: p.width, height: p.height}
	p.begins()
	return p
}

// work does what was taken.
func (p *painter) work(k work) {
	if k.has {
		p.frame(k)
	}
	for _, a := range k.asks {
		a.do(p)
	}
	if k.last {
		p.release(false)
	}
	p.flush()
	if k.has && !k.releases() && !p.queried && p.s.options.Queries != "" {
		p.queried = true
		p.s.asked.Store(p.now().UnixNano())
		p.raw(p.s.options.Queries)
		p.flush()
	}
}

func (p *painter) raw(text string) { p.body = append(p.body, text...) }

// flush writes what has been made. What moves lines or changes several is shown by
// the terminal at once where it can do so.
func (p *painter) flush() {
	if len(p.body) == 0 && p.cursor == p.drawn {
		return
	}
	out, end := make([]byte, 0, len(p.body)+32), ""
	if p.moved > 1 {
		out, end = append(out, syncBegin...), syncEnd
		if p.drawn {
			out, p.drawn = append(out, hideCursor...), false
		}
	}
	out = append(out, p.body...)
	if p.cursor != p.drawn {
		p.drawn = p.cursor
		if p.cursor {
			out = append(out, showCursor...)
		} else {
			out = append(out, hideCursor...)
		}
	}
	p.send(append(out, end...))
	p.body, p.moved = p.body[:0], 0
}

func (p *painter) send(out []byte) {
	if p.err != nil || p.s.gone.Load() {
		return
	}
	p.wrote = true
	_, p.err = p.out.Write(out)
}

// enter sets the modes.
func (p *painter) enter() {
	if p.started {
		return
	}
	p.started = true
	p.s.on.Store(true)
	p.raw(wrapOff + pasteOn)
	if p.s.options.Focus {
		p.raw(focusOn)
	}
	p.keys(true)
	p.raw("\r" + eraseBelow)
}

// keys turns the keyboard's sequences on and off. Each screen has its own.
func (p *painter) keys(on bool) {
	switch {
	case oldTerminal():
	case on:
		p.raw(keysOn + otherOn)
	default:
		p.raw(keysOff + otherOff)
	}
}

// leave sets the modes back. With take the region is taken away, or else it stays,
// with an empty line below it.
func (p *painter) release(take bool) {
	if !p.started {
		return
	}
	p.started = false
	if p.full {
		p.inlined()
		if p.r.width != p.width || p.r.height != p.height {
			p.resize()
		}
		p.commit(p.held.take())
	}
	switch {
	case take:
		p.moveTo(0, 0)
		p.raw(eraseBelow)
		p.inline.lines = []line{{whole: true}}
	case len(p.inline.lines) > 1 || p.inline.lines[0].shown != "":
		p.moveTo(len(p.inline.lines)-1, 0)
		p.raw("\n")
	default:
		p.moveTo(0, 0)
	}
	if p.mouse {
		p.mouse = false
		p.raw(mouseOff)
	}
	p.raw(pasteOff)
	if p.s.options.Focus {
		p.raw(focusOff)
	}
	p.keys(false)
	if p.title != "" {
		p.title = ""
		p.s.title.Store(false)
		p.raw(backTitle)
	}
	p.raw(wrapOn)
	p.cursor = true
	p.s.on.Store(false)
}

// inlined leaves full-screen mode.
func (p *painter) inlined() {
	if !p.full {
		return
	}
	p.full, p.r = false, &p.inline
	p.keys(false)
	p.raw(altOff)
	p.s.alt.Store(false)
	p.moved += 2
}

// filled enters full-screen mode.
func (p *painter) filled() {
	if p.full {
		return
	}
	p.full, p.r = true, &p.whole
	p.raw(altOn)
	p.keys(true)
	p.s.alt.Store(true)
	p.whole = region{}
}

// frame draws one.
func (p *painter) frame(k work) {
	p.width, p.height = k.width, k.height
	// The terminal may have another size by now than the one that the frame was made
	// for: what stands there has moved accordingly, and the frame is cut.
	if p.s.measure != nil {
		if width, height := p.s.measure(); width > 0 && height > 0 {
			p.width, p.height = width, height
		}
	}
	f := k.frame
	p.enter()
	if k.full {
		p.filled()
	} else {
		p.inlined()
	}
	if k.resized || p.r.width != p.width || p.r.height != p.height {
		p.resize()
	}
	if k.erased && !p.full {
		p.raw("\x1b[H" + eraseBelow) // eraseScreen would have tmux put it into the scrollback
		p.inline = region{lines: []line{{whole: true}}, width: p.width, height: p.height}
		p.begins()
		p.moved += 2
	}
	p.held.add(k.commit, k.left)
	if !p.full {
		p.commit(p.held.take())
	}
	p.last, p.lastFull = f, k.full
	p.update(p.wanted(f.Lines))
	p.place(f.Cursor)
	p.remember()
	if f.Mouse != p.mouse {
		p.mouse = f.Mouse
		if f.Mouse {
			p.raw(mouseOn)
		} else {
			p.raw(mouseOff)
		}
	}
	if f.Title != "" && f.Title != p.title {
		if p.title == "" {
			p.raw(saveTitle)
			p.s.title.Store(true)
		}
		p.title = f.Title
		p.raw("\x1b]2;" + display.Line(f.Title) + "\a")
	}
}

// wanted returns the lines that the region is to have.
func (p *painter) wanted(lines []string) []string {
	if len(lines) > p.height {
		lines = lines[len(lines)-p.height:]
	}
	if !p.full {
		if len(lines) == 0 {
			return []string{""}
		}
		return lines
	}
	if len(lines) < p.height {
		lines = append(lines[:len(lines):len(lines)], make([]string, p.height-len(lines))...)
	}
	return lines
}

// resize takes away what stands, which the terminal may have moved.
func (p *painter) resize() {
	r := p.r
	if p.full {
		p.raw(eraseScreen)
		*r = region{lines: make([]line, p.height), width: p.width, height: p.height}
		for i := range r.lines {
			r.lines[i].whole = true
		}
		p.moved += 2
		return
	}
	p.raw("\r" + up(p.above()) + eraseBelow)
	*r = region{lines: []line{{whole: true}}, width: p.width, height: p.height}
	p.begins()
	p.moved += 2
}

// above returns how many lines of the terminal, at its new width, are certainly between
// the region's beginning and the cursor. The terminal broke the lines that stood there
// when it got narrower, which may have been before the newest frames: those moved the
// cursor by lines, so what it added then is what it is further away since. Of all that
// it may have added the least counts: a rest of the region stays sooner than a
// finished line is lost.
func (p *painter) above() int {
	r := p.r
	if p.width >= r.width || p.s.options.NoReflow {
		return r.row
	}
	p.forget()
	least := p.standing().broken(p.width)
	for _, s := range p.recent {
		least = min(least, s.broken(p.width))
	}
	return r.row + least
}

// standing returns what stands between the region's beginning and the cursor.
func (p *painter) standing() stood {
	s := stood{at: p.now(), col: p.r.col}
	for _, l := range p.r.lines[:min(max(p.r.row, 0), len(p.r.lines))] {
		s.widths = append(s.widths, l.width)
	}
	return s
}

// remember keeps what stands after a frame as long as the terminal may have had
// another size by then.
func (p *painter) remember() {
	if p.full || p.s.options.NoReflow {
		return
	}
	p.forget()
	s := p.standing()
	if last := p.recent[len(p.recent)-1]; last.col != s.col || !slices.Equal(last.widths, s.widths) {
		p.recent = append(p.recent, s)
	}
}

// forget drops what something else has stood in place of for long enough.
func (p *painter) forget() {
	old := 0
	for old+1 < len(p.recent) && p.now().Sub(p.recent[old+1].at) >= late {
		old++
	}
	p.recent = slices.Delete(p.recent, 0, old)
}

// begins says that the region begins at the cursor, wherever that is.
func (p *painter) begins() {
	p.r.row, p.r.col = 0, 0
	p.recent = append(p.recent[:0], stood{at: p.now()})
}

// piece is a line of the scrollback, or a picture in it.
type piece struct {
	text  string // is before the picture
	image string
	rows  int
}

// pieces breaks finished lines into those of the terminal.
func (p *painter) pieces(lines []string, left int) (all []piece, rows int) {
	if left > 0 {
		all, rows = append(all, piece{text: fmt.Sprintf("… %d lines are left out here: the terminal did not take them in time", left), rows: 1}), 1
	}
	for _, l := range lines {
		before, sequence, high, instead, ok := image(l)
		if ok && high > 0 && high < p.height {
			all, rows = append(all, piece{text: closed(safe(before)), image: sequence, rows: high}), rows+high
			continue
		}
		if ok {
			l = before + instead
		}
		l = trim(safe(l))
		if cell.Width(l) <= p.width {
			all, rows = append(all, piece{text: closed(l), rows: 1}), rows+1
			continue
		}
		for _, part := range cell.Wrap(l, p.width) {
			all, rows = append(all, piece{text: closed(part), rows: 1}), rows+1
		}
	}
	return all, rows
}

// commit writes finished lines above the region.
func (p *painter) commit(lines []string, left int) {
	r := p.r
	if left == 0 {
		n := 0 // lines that stand there already: the region begins below them from now on
		for n < len(lines) && n < len(r.lines)-1 && r.lines[n].whole && r.lines[n].raw == lines[n] {
			n++
		}
		p.again(r.lines[:n])
		r.lines, r.row, lines = r.lines[n:], r.row-n, lines[n:]
		for i, s := range p.recent {
			p.recent[i].widths = s.widths[min(n, len(s.widths)):]
		}
	}
	all, rows := p.pieces(lines, left)
	if rows == 0 {
		return
	}
	p.moved += 2
	if rows+len(r.lines) <= p.height {
		// Room is made below the region, and then moved above it.
		p.moveTo(len(r.lines)-1, 0)
		p.feed(rows)
		p.raw(up(len(r.lines) - 1 + rows))
		p.raw(moved(rows, 'L'))
		for _, x := range all {
			p.piece(x)
		}
		p.begins()
		return
	}
	p.moveTo(0, 0)
	p.raw(eraseBelow)
	for _, x := range all {
		if x.image != "" {
			p.feed(x.rows)
			p.raw(up(x.rows))
		}
		p.piece(x)
		if len(p.body) > chunk {
			p.flush()
		}
	}
	p.moved += 2
	r.lines = []line{{whole: true}}
	p.begins()
}

// again writes lines at the region's beginning once more that may not have been
// drawn whole, because the terminal was narrower by then.
func (p *painter) again(lines []line) {
	r, now := p.r, p.now()
	for i, l := range lines {
		if now.Sub(l.since) >= late || l.shown == "" {
			continue
		}
		p.moveTo(i, 0)
		p.raw(finished(l.shown))
		r.row, r.col = i+1, 0
		p.moved++
	}
}

// finished returns a line of the scrollback, and the way to the next, so that a terminal
// that is narrower than the program knows breaks it instead of cutting it. What the
// terminal may take for wider than it is stays cut, or it would take more lines than
// were counted.
func finished(text string) string {
	switch {
	case text == "":
	case doubtful(text):
		text = eraseRight + text
	default:
		text = eraseRight + wrapOn + text + wrapOff
	}
	return text + "\r\n"
}

// feed moves the cursor down by lines, and the terminal up where there are no more.
func (p *painter) feed(n int) { p.raw(strings.Repeat("\n", n)) }

// piece writes a piece at the cursor, which then is at the beginning of the line
// below it.
func (p *painter) piece(x piece) {
	if x.image == "" {
		p.raw(finished(x.text))
		return
	}
	p.raw(x.text)
	p.raw(saveCursor)
	p.raw(x.image)
	p.raw(backCursor)
	p.raw("\r")
	p.feed(x.rows)
}

// moveTo moves the cursor within the region.
func (p *painter) moveTo(row, col int) {
	r := p.r
	if p.full {
		if row != r.row || col != r.col {
			p.raw("\x1b[" + strconv.Itoa(row+1) + ";" + strconv.Itoa(col+1) + "H")
		}
		r.row, r.col = row, col
		return
	}
	p.raw(up(r.row - row))
	p.raw(down(row - r.row))
	if col != r.col {
		if col == 0 {
			p.raw("\r")
		} else {
			p.raw("\x1b[" + strconv.Itoa(col+1) + "G")
		}
	}
	r.row, r.col = row, col
}

// update draws the lines that are other ones than those that stand.
func (p *painter) update(lines []string) {
	r := p.r
	steps, now := script(r.lines, lines), p.now()
	next := make([]line, 0, len(lines))
	// Lines that are no more go first, so that there is room for new ones.
	row, was := 0, 0
	for _, s := range steps {
		if s.op == remove {
			p.moveTo(row, 0)
			p.raw(moved(s.n, 'M'))
			p.moved += 2
			continue
		}
		if s.op != insert {
			row += s.n
		}
	}
	if grown := len(lines) - len(r.lines); grown > 0 {
		p.moveTo(len(r.lines)-1, 0)
		p.feed(grown)
		r.row += grown
		p.moved += 2
	}
	row = 0
	for i, s := range steps {
		if s.op == insert && i < len(steps)-1 {
			p.moveTo(row, 0)
			p.raw(moved(s.n, 'L'))
			p.moved += 2
		}
		if s.op != remove {
			row += s.n
		}
	}
	for _, s := range steps {
		switch s.op {
		case same:
			next = append(next, r.lines[was:was+s.n]...)
			was += s.n
		case remove:
			was += s.n
		case insert:
			for range s.n {
				l := newLine(lines[len(next)], p.width)
				l.since = now
				p.rewrite(len(next), line{whole: true}, l)
				next = append(next, l)
			}
		case replace:
			for range s.n {
				l := newLine(lines[len(next)], p.width)
				l.since = now
				p.rewrite(len(next), r.lines[was], l)
				next, was = append(next, l), was+1
			}
		}
	}
	r.lines = next
}

// rewrite makes a line of another one.
func (p *painter) rewrite(row int, from, to line) {
	column, text := changed(from.shown, to.shown)
	if column < 0 {
		return
	}
	p.moved++
	p.moveTo(row, column)
	p.raw(text)
	p.r.col = to.width
	if to.width >= p.width || strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		p.r.col = -1 // at the edge, or where the terminal thinks that it is
	}
	if from.width > to.width || to.width < p.width && doubtful(from.shown[alike(from.shown, to.shown):]) {
		p.raw(eraseRight)
	}
}

// place puts the cursor where it belongs.
func (p *painter) place(c *Cursor) {
	p.cursor = c != nil
	if c == nil {
		p.moveTo(min(max(p.r.row, 0), len(p.r.lines)-1), 0)
	} else {
		p.moveTo(min(max(c.Row, 0), len(p.r.lines)-1), min(max(c.Column, 0), p.width-1))
	}
	if !p.full {
		p.s.below.Store(int64(len(p.r.lines) - 1 - p.r.row))
	}
}
