package tool

import (
	"bufio"
	"context"
	"errors"
	"io"
	"regexp"
	"testing"
)

// oneLine is a line without end, at least for what a test takes of it. What reads it is
// cancelled in the middle.
type oneLine struct {
	left   int
	cancel context.CancelFunc
}

func (l *oneLine) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, io.EOF
	}
	if l.left < 60<<20 {
		l.cancel()
	}
	for i := range p {
		p[i] = 'x'
	}
	l.left -= len(p)
	return len(p), nil
}

func newOneLine(t *testing.T) (context.Context, *oneLine) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, &oneLine{left: 64 << 20, cancel: cancel}
}

func TestReadingALineWithoutEndCanBeCancelled(t *testing.T) {
	ctx, line := newOneLine(t)
	if _, err := readPage(ctx, bufio.NewReaderSize(line, readBuffer), pageAsk{offset: 1, tokens: pageTokens, drain: true}); !errors.Is(err, context.Canceled) || line.left <= 0 {
		t.Errorf("%v, %d bytes are left", err, line.left)
	}
}

func TestSearchingALineWithoutEndCanBeCancelled(t *testing.T) {
	ctx, line := newOneLine(t)
	var buf []byte
	s, err := newLineScan(line, &buf)
	if err != nil {
		t.Fatal(err)
	}
	s.each(ctx, &pattern{re: regexp.MustCompile("y")}, 0, func(int, []byte, bool) bool { return true })
	if line.left <= 0 {
		t.Error("all of it was read")
	}
}
