package mcpserve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds a message that comes by stdin, in bytes.
const maxLine = 16 << 20

// Stdio serves one client, a JSON-RPC message per line, until its input ends or ctx does,
// both of which are no failure. Lines that are not JSON are left out, and named once.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := &lineReader{in: bufio.NewReaderSize(in, 64<<10), notify: s.cfg.Notify}
	err := s.mcp.Run(ctx, &mcp.IOTransport{Reader: lines, Writer: keepOpen{out}, MaxLineLength: maxLine + 1})
	switch ended := lines.ended.Load(); {
	case ended == &errLongLine:
		return errLongLine
	case ctx.Err() != nil, ended != nil && errors.Is(*ended, io.EOF):
		return nil
	}
	return err
}

// errLongLine is why a client is not listened to any more.
var errLongLine = fmt.Errorf("the client sent a message of more than %d MiB, so the connection is closed", maxLine>>20)

// keepOpen is a writer that is not closed with its connection: it is the program's.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// lineReader reads lines that are JSON. It is used by one goroutine, but for ended: why no
// line follows.
type lineReader struct {
	in     *bufio.Reader
	notify func(string)
	told   bool
	line   []byte // what of the current line was not read yet
	ended  atomic.Pointer[error]
}

func (r *lineReader) Close() error { return nil }

// Read implements [io.Reader].
func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.line) == 0 {
		if ended := r.ended.Load(); ended != nil {
			return 0, *ended
		}
		line, err := r.next()
		switch {
		case errors.Is(err, errLongLine):
			r.ended.Store(&errLongLine)
		case err != nil:
			r.ended.Store(&err)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			if !r.told {
				r.told = true
				r.notify("the client sent a line that is not JSON; such lines are left out")
			}
			continue
		}
		r.line = append(line, '\n')
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// next reads a line of at most maxLine bytes.
func (r *lineReader) next() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return nil, errLongLine
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
