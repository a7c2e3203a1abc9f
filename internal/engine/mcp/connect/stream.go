package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxPushed is how long an event of a stream may be for a channel's notification in it to
// count, in bytes.
const maxPushed = 1 << 20

// channelCapability is what a server declares that pushes as a channel.
const channelCapability = "claude/channel"

// newestVersion is the first in which a server with an address keeps no stream of its own, so
// that it pushes nothing unasked.
const newestVersion = "2026-07-28"

// errNoStream is that a server has an address and no stream.
var (
	errNoStream = errors.New("it keeps no stream open on which it could push")
	errNewest   = fmt.Errorf("it speaks only the version %s of MCP, in which a server with an address cannot push", newestVersion)
)

// pushing are the streams of an address through which a channel pushes. Its reports may be read by
// anybody.
type pushing struct {
	filter *filter          // not nil; each stream has a copy
	lost   func(why string) // nil: nobody wants to know
	open   atomic.Int64     // how many streams of its own the server has begun
}

// watch returns the body of an answer to a request, from which the notifications of channels
// are taken.
func (p *pushing) watch(req *http.Request, res *http.Response) io.ReadCloser {
	if p == nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return res.Body
	}
	if req.Method == http.MethodGet && p.open.Add(1) > 1 && req.Header.Get("Last-Event-Id") == "" {
		p.tell("its stream was interrupted, and what it has pushed meanwhile is lost")
	}
	f := *p.filter
	return &eventReader{ReadCloser: res.Body, filter: f, lost: p.tell}
}

func (p *pushing) tell(why string) {
	if p.lost != nil {
		p.lost(why)
	}
}

// eventReader passes on a stream of server-sent events, and has the notifications of channels
// in it taken. The library of the protocol drops those, because it has no name for them. It
// belongs to one reader.
type eventReader struct {
	io.ReadCloser
	filter filter
	lost   func(why string)

	line  []byte // that is being read, at most its first maxPushed bytes
	data  []byte // of the event so far
	other bool   // the event is not a message
	long  bool   // the event is too long to be looked at
}

// Read implements [io.Reader].
func (r *eventReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		at := bytes.IndexByte(rest, '\n')
		piece := rest
		if at >= 0 {
			piece = rest[:at]
		}
		if room := maxPushed - len(r.line); len(piece) > room {
			piece, r.long = piece[:room], true
		}
		r.line = append(r.line, piece...)
		if at < 0 {
			break
		}
		r.take(bytes.TrimSuffix(r.line, []byte("\r")))
		if r.line = r.line[:0]; cap(r.line) > 64<<10 {
			r.line = nil
		}
		rest = rest[at+1:]
	}
	return n, err
}

// take takes a line of the stream.
func (r *eventReader) take(line []byte) {
	if len(line) == 0 {
		r.event()
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		r.other = string(value) != "message"
	case "data":
		if len(r.data)+1+len(value) > maxPushed {
			r.long = true
		}
		if r.long {
			value = value[:min(len(value), max(0, maxPushed-len(r.data)-1))]
		}
		if len(r.data) > 0 {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
	}
}

// event ends an event.
func (r *eventReader) event() {
	data, other, long := r.data, r.other, r.long
	r.data, r.other, r.long = nil, false, false
	switch {
	case other || len(data) == 0:
	case !long:
		r.filter.judge(data) // what is none of a channel goes on to the library
	case bytes.Contains(data[:min(len(data), 200)], []byte("claude")): // it may be one
		r.lost(fmt.Sprintf("an event of it was longer than %d KiB", maxPushed>>10))
	}
}

// keeping is a transport that keeps its connection, so that messages can be sent through it
// that the library does not know.
type keeping struct {
	mcp.Transport
	conn mcp.Connection
}

// Connect implements [mcp.Transport].
func (k *keeping) Connect(ctx context.Context) (c mcp.Connection, err error) {
	c, err = k.Transport.Connect(ctx)
	k.conn = c
	return c, err
}

// CanPush returns why the server cannot push as a channel, a sentence without a subject; nil
// where it can.
func (s *Server) CanPush() error {
	switch {
	case s.process != nil || s.socket != nil:
		return nil
	case s.address.pushing == nil || s.address.pushing.open.Load() > 0:
		return nil
	case s.ProtocolVersion() >= newestVersion:
		return errNewest
	}
	return errNoStream
}
