package tool

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

const (
	scanBlock = 128 << 10
	scanLine  = 16 << 20 // bytes; of a longer line only the beginning is searched
	shownCols = 500      // bytes of a line that are shown
)

// lineScan reads a file in blocks of whole lines, so that blocks without a match
// are passed over at once.
type lineScan struct {
	r      io.Reader
	buf    []byte
	have   int // bytes in buf
	ended  bool
	binary bool // there is a NUL near the beginning
	line   int  // number of the last line given
	cut    bool // the rest of a line was not searched
}

// newLineScan reads r from its beginning, UTF-16 that its mark says as UTF-8. It uses buf, which it may replace, so
// that one buffer serves many files.
func newLineScan(r io.Reader, buf *[]byte) (*lineScan, error) {
	if len(*buf) < scanBlock {
		*buf = make([]byte, scanBlock)
	}
	s := &lineScan{r: r, buf: *buf}
	if err := s.fill(); err != nil {
		return nil, err
	}
	if order := utf16Order(s.buf[:s.have]); order != nil {
		s.r = &utf16Reader{r: io.MultiReader(bytes.NewReader(bytes.Clone(s.buf[2:s.have])), r), order: order}
		s.have, s.ended = 0, false
		if err := s.fill(); err != nil {
			return nil, err
		}
	} else if bytes.HasPrefix(s.buf[:s.have], []byte(bom)) {
		s.have = copy(s.buf, s.buf[len(bom):s.have])
	}
	s.binary = bytes.IndexByte(s.buf[:min(s.have, sniffBytes)], 0) >= 0
	return s, nil
}

func (s *lineScan) fill() error {
	for s.have < len(s.buf) && !s.ended {
		n, err := s.r.Read(s.buf[s.have:])
		s.have += n
		if err == io.EOF {
			s.ended = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// each gives the lines in order, without their line feed: those that match, and
// with around > 0 all others too. It ends when fn says false.
func (s *lineScan) each(ctx context.Context, p *pattern, around int, fn func(n int, line []byte, match bool) bool) {
	for ctx.Err() == nil && s.have > 0 {
		end := bytes.LastIndexByte(s.buf[:s.have], '\n') + 1
		long := false
		switch {
		case s.ended:
			end = s.have
		case end == 0 && len(s.buf) < scanLine:
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
			if s.fill() != nil {
				return
			}
			continue
		case end == 0:
			end, long = s.have, true
		}
		if !s.block(s.buf[:end], p, around, fn) {
			return
		}
		s.have = copy(s.buf, s.buf[end:s.have])
		s.cut = s.cut || long
		if long && !s.skipLine(ctx) {
			return
		}
		if s.fill() != nil {
			return
		}
	}
}

// block returns the lines of one block.
func (s *lineScan) block(block []byte, p *pattern, around int, fn func(n int, line []byte, match bool) bool) bool {
	hit := p.match(block)
	if !hit && around == 0 {
		s.line += bytes.Count(block, []byte("\n"))
		if block[len(block)-1] != '\n' {
			s.line++
		}
		return true
	}
	for len(block) > 0 {
		line, rest, _ := bytes.Cut(block, []byte("\n"))
		block = rest
		s.line++
		match := hit && p.match(line)
		if (match || around > 0) && !fn(s.line, line, match) {
			return false
		}
	}
	return true
}

// skipLine passes over the rest of a line that is too long.
func (s *lineScan) skipLine(ctx context.Context) bool {
	for ctx.Err() == nil {
		if s.fill() != nil || s.have == 0 {
			return false
		}
		if i := bytes.IndexByte(s.buf[:s.have], '\n'); i >= 0 {
			s.have = copy(s.buf, s.buf[i+1:s.have])
			return true
		}
		s.have = 0
	}
	return false
}

// shownLine is a line as it is shown: valid, without CR, cut when it is long.
func shownLine(line []byte) string {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) <= shownCols {
		return string(valid(line))
	}
	cut := line[:shownCols]
	cut = cut[:wholeRunes(cut)]
	return fmt.Sprintf("%s … [%d more bytes]", valid(cut), len(line)-len(cut))
}
