package httpx

import (
	"bytes"
	"errors"
	"io"
)

// Bounds of what is read from a server.
const (
	MaxLine      = 16 << 20  // bytes of one line or event of a stream
	MaxStream    = 256 << 20 // bytes of one answer
	maxErrorBody = 1 << 20   // bytes of an answer that is no stream
)

var (
	errHTML   = errors.New("an HTML page came instead of an answer")
	errLine   = errors.New("a line of the answer is longer than 16 MiB")
	errStream = errors.New("the answer is longer than 256 MiB")
)

// bodyError is a JSON document where a stream was expected.
type bodyError struct{ body []byte }

func (e *bodyError) Error() string { return "a JSON document came instead of a stream" }

// guard reads an event stream and fails when it is none or exceeds a bound. A
// stream whose last event lacks its empty line gets one, because [Events] drops such
// an event.
type guard struct {
	body   io.ReadCloser
	total  int
	event  int  // bytes since the last empty line
	line   int  // bytes of the current line without CR
	seen   bool // something other than white space came
	err    error
	closer []byte
}

func newGuard(body io.ReadCloser) *guard { return &guard{body: body} }

func (g *guard) Close() error { return g.body.Close() }

func (g *guard) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(g.closer) > 0 {
		n := copy(p, g.closer)
		g.closer = g.closer[n:]
		return n, nil
	}
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.body.Read(p)
	if bad := g.look(p[:n]); bad != nil {
		g.err = bad
		return 0, bad
	}
	if err == nil {
		return n, nil
	}
	g.err = err
	if errors.Is(err, io.EOF) && g.total > 0 && g.line == 0 && g.event > 0 {
		g.closer = []byte("\n")
	}
	if n > 0 || len(g.closer) > 0 {
		return n, nil
	}
	return 0, err
}

func (g *guard) look(p []byte) error {
	if !g.seen {
		if rest := bytes.TrimLeft(p, " \t\r\n\xef\xbb\xbf"); len(rest) > 0 {
			g.seen = true
			switch rest[0] {
			case '<':
				return errHTML
			case '{', '[':
				more, _ := io.ReadAll(io.LimitReader(g.body, maxErrorBody))
				return &bodyError{body: append(bytes.Clone(rest), more...)}
			}
		}
	}
	g.total += len(p)
	if g.total > MaxStream {
		return errStream
	}
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			g.line += len(bytes.TrimRight(p, "\r"))
			g.event += len(p)
			break
		}
		g.line += len(bytes.TrimRight(p[:end], "\r"))
		g.event += end + 1
		if g.line == 0 {
			g.event = 0
		}
		g.line = 0
		p = p[end+1:]
	}
	if g.event > MaxLine {
		return errLine
	}
	return nil
}
