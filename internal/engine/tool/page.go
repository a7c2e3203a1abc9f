package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	pageLines  = 2000 // lines of a page when no limit is given
	lineBytes  = 2000 // of a line that are shown
	pageTokens = 2000 // the least that a page may hold
)

// pageAsk says which part of a text is wanted.
type pageAsk struct {
	offset int  // first line, from 1
	limit  int  // lines, 0 for as many as fit
	tokens int  // budget
	drain  bool // read on to the end, for the number of lines
}

// page is a part of a text.
type page struct {
	body  string
	first int // number of the first line shown
	last  int // number of the last line shown, first-1 when none is
	total int // lines of the text, as far as it was read
	ended bool
	cut   bool // a line was cut
	bad   bool // there were bytes that are not valid UTF-8, or NULs
	crlf  bool // the first line ends in CRLF
}

// tokens estimates what a text costs: four ASCII characters, or one other.
func tokens(s []byte) int {
	ascii, other := 0, 0
	for _, c := range s {
		switch {
		case c < utf8.RuneSelf:
			ascii++
		case utf8.RuneStart(c):
			other++
		}
	}
	return (ascii+3)/4 + other
}

// readPage numbers lines of r as ask says. Memory is bounded by the budget,
// whatever the length of the text and its lines.
func readPage(ctx context.Context, r *bufio.Reader, ask pageAsk) (page, error) {
	p := page{first: ask.offset, last: ask.offset - 1}
	var body strings.Builder
	full, spent := false, 0
	for n := 1; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return p, ctx.Err()
		}
		if full && !ask.drain {
			break
		}
		line, more, end, err := readLine(ctx, r)
		if err == io.EOF {
			p.ended = true
			break
		}
		if err != nil {
			return p, err
		}
		if n == 1 {
			p.crlf = strings.HasSuffix(end, "\r\n")
		}
		p.total = n
		if n < ask.offset || full {
			continue
		}
		shown := valid(line)
		text := fmt.Appendf(nil, "%6d\t%s", n, shown)
		if more > 0 {
			text = fmt.Appendf(text, " … [%d more bytes of this line]", more)
		}
		text = append(text, '\n')
		cost := tokens(text)
		if n > ask.offset && (spent+cost > ask.tokens || (ask.limit > 0 && n >= ask.offset+ask.limit)) {
			full = true
			continue
		}
		spent += cost
		p.cut = p.cut || more > 0
		p.bad = p.bad || len(shown) != len(line) || string(shown) != string(line)
		body.Write(text)
		p.last = n
	}
	p.body = body.String()
	return p, nil
}

// readLine returns the next line without its ending, at most lineBytes of it cut
// at a character, and the number of bytes left out. At the end the error is
// io.EOF.
func readLine(ctx context.Context, r *bufio.Reader) (line []byte, more int, end string, err error) {
	read := 0
	for {
		piece, err := r.ReadSlice('\n')
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, 0, "", err
		}
		read += len(piece)
		if err == io.EOF && read == 0 {
			return nil, 0, "", io.EOF
		}
		if err == nil {
			piece, end = piece[:len(piece)-1], "\n"
		}
		kept := min(lineBytes-len(line), len(piece))
		line = append(line, piece[:kept]...)
		more += len(piece) - kept
		if errors.Is(err, bufio.ErrBufferFull) {
			if ctx.Err() != nil {
				return nil, 0, "", ctx.Err()
			}
			continue
		}
		if more == 0 {
			if cut, ok := bytes.CutSuffix(line, []byte("\r")); ok && end != "" {
				line, end = cut, "\r\n"
			}
			return line, 0, end, nil
		}
		whole := len(line)
		line = line[:wholeRunes(line)]
		return line, more + whole - len(line), end, nil
	}
}

// wholeRunes returns the length of p without a character that is cut at its end.
func wholeRunes(p []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		if utf8.RuneStart(p[len(p)-i]) {
			if !utf8.FullRune(p[len(p)-i:]) {
				return len(p) - i
			}
			break
		}
	}
	return len(p)
}

// wrapReader breaks lines that are too long to be shown, at a character, so that
// all of them can be paged.
type wrapReader struct {
	r      io.Reader
	column int
	out    []byte
	buf    [4096]byte
}

// Read implements [io.Reader].
func (w *wrapReader) Read(p []byte) (int, error) {
	if len(w.out) == 0 {
		n, err := w.r.Read(w.buf[:])
		for _, c := range w.buf[:n] {
			if w.column >= lineBytes-utf8.UTFMax && utf8.RuneStart(c) && c != '\n' && c != '\r' {
				w.out = append(w.out, '\n')
				w.column = 0
			}
			w.column++
			if c == '\n' {
				w.column = 0
			}
			w.out = append(w.out, c)
		}
		if len(w.out) == 0 {
			return 0, err
		}
	}
	n := copy(p, w.out)
	w.out = w.out[:copy(w.out, w.out[n:])]
	return n, nil
}
