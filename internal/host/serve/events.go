package serve

import (
	"net/http"
	"strconv"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

// Bounds of a stream of events; see docs/limits.md.
const (
	eventsBatch = 64 << 10 // bytes that are gathered before they are sent
	maxTail     = 2000     // events that can be asked for at the beginning
)

// eventStream is a session's events as server-sent events (the format is that of the
// HTML standard, section "Server-sent events").
type eventStream struct {
	s          *Server
	x          *exchange
	conn       *host.Conn
	persistent bool // no others
	at         place
	buf        []byte
	ended      bool
}

// events answers GET /v1/sessions/{sessionId}/events.
func (s *Server) events(x *exchange) {
	e := &eventStream{s: s, x: x}
	open, err := e.question()
	if err != nil {
		x.fail(err)
		return
	}
	if e.conn, _, err = s.subscribe(x, open, "HTTP events"); err != nil {
		x.fail(err)
		return
	}
	defer func() { _ = e.conn.Close() }()
	s.metrics.Connected("events")
	defer s.metrics.Disconnected("events")
	x.w.Header().Set("Content-Type", "text/event-stream")
	x.w.Header().Set("X-Accel-Buffering", "no") // a proxy in between shall not gather
	e.buf = append(e.buf, "retry: 1000\n\n"...)
	e.run()
}

// question reads what the request asks for.
func (e *eventStream) question() (*protocol.OpenSession, error) {
	open := &protocol.OpenSession{}
	query := e.x.r.URL.Query()
	for name := range query {
		value := query.Get(name)
		if len(query[name]) > 1 {
			return nil, wrong(clipped(name), "The parameter %s stands there %d times; give it once.", shown(name), len(query[name]))
		}
		switch name {
		case "types":
			if value != "persistent" && value != "all" {
				return nil, wrong(name, "The parameter types is persistent or all, not %s.", shown(value))
			}
			e.persistent = value == "persistent"
		case "tail":
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 || n > maxTail {
				return nil, wrong(name, "The parameter tail is a number of events up to %d, not %s.", maxTail, shown(value))
			}
			open.Tail = n
		default:
			return nil, wrong(clipped(name), "There is no parameter %s here; there are tail and types.", shown(name))
		}
	}
	if id := e.x.r.Header.Get("Last-Event-ID"); id != "" {
		at, err := parsePlace(id)
		if err != nil {
			return nil, wrong("Last-Event-ID", "%s; leave the header out to begin anew.", sentence(err))
		}
		e.at = at
		device, _ := e.s.cfg.Host.Device()
		open.Anchors = at.anchors(device)
	}
	return open, nil
}

// run sends events until one side ends.
func (e *eventStream) run() {
	keep := time.NewTicker(e.s.times.ping / 2) // two of them may pass before a comment comes
	defer keep.Stop()
	quiet := true // since the last tick
	for e.flush() && !e.ended {
		select {
		case f := <-e.conn.Frames():
			e.gather(f)
			quiet = false
		case <-keep.C:
			if quiet {
				e.buf = append(e.buf, ":\n\n"...)
			}
			quiet = true
		case <-e.conn.Done():
			if why := e.conn.Why(); why != nil {
				e.control(&protocol.SessionClosed{SessionID: protocol.SessionID(e.x.values["sessionId"]), Err: why})
				_ = e.flush() // the last one
			}
			return
		case <-e.x.r.Context().Done():
			return
		case <-e.s.stopping:
			e.gatherAll()
			_ = e.flush() // the last one
			return
		}
	}
}

// gather writes a frame, and those that are there already, into the buffer.
func (e *eventStream) gather(f protocol.Frame) {
	e.frame(f)
	e.gatherAll()
}

func (e *eventStream) gatherAll() {
	for len(e.buf) < eventsBatch && !e.ended {
		select {
		case f := <-e.conn.Frames():
			e.frame(f)
		default:
			return
		}
	}
}

// flush sends what has been gathered; false is the end of the connection.
func (e *eventStream) flush() bool {
	if len(e.buf) == 0 {
		return true
	}
	if _, err := e.x.w.Write(e.buf); err != nil {
		return false
	}
	e.s.metrics.Frame(len(e.buf))
	if e.buf = e.buf[:0]; cap(e.buf) > keepBuffer {
		e.buf = nil
	}
	return http.NewResponseController(e.x.w).Flush() == nil
}

// frame appends a frame. Frames that tell of other sessions and clients have no place
// here.
func (e *eventStream) frame(f protocol.Frame) {
	switch f := f.(type) {
	case *protocol.ResyncFrame:
		e.s.metrics.Resync(string(f.Mode))
		e.at.resync(f.Mode)
		e.control(f) // without an id: nothing has come yet
	case *protocol.EventsFrame:
		for _, ev := range f.Events {
			e.at.event(ev)
			if e.persistent && ev.IsTransient() {
				continue
			}
			e.head(string(ev.Type), true)
			before := len(e.buf)
			var err error
			if e.buf, err = ev.AppendLine(e.buf); err != nil {
				e.buf = e.buf[:before]
				e.s.reporter.report("frame", "an event cannot be written: "+err.Error())
				e.ended = true
				return
			}
			e.buf = append(e.buf, "\n\n"...)
		}
	case *protocol.LiveFrame:
		e.at.live(&f.Live)
		e.message("live", true, f)
	case *protocol.SessionClosed:
		e.control(f)
		e.ended = true
	case *protocol.HostStopping:
		e.control(f)
	}
}

// control appends a frame as it stands on the wire, without an id.
func (e *eventStream) control(f protocol.Frame) { e.message(f.FrameName(), false, f) }

func (e *eventStream) message(name string, id bool, f protocol.Frame) {
	data, err := protocol.MarshalFrame(f)
	if err != nil {
		e.s.reporter.report("frame", "a "+name+" frame cannot be written: "+err.Error())
		e.ended = true
		return
	}
	e.head(name, id)
	e.buf = append(append(e.buf, data...), "\n\n"...)
}

// head begins a message.
func (e *eventStream) head(name string, id bool) {
	e.buf = append(append(append(e.buf, "event: "...), name...), '\n')
	if id {
		e.buf = append(append(append(e.buf, "id: "...), e.at.String()...), '\n')
	}
	e.buf = append(e.buf, "data: "...)
}

// sentence gives an error's text with a capital letter in front.
func sentence(err error) string {
	s := err.Error()
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
