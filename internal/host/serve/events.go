package serve

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

// Bounds of a stream of events; see docs/limits.md.
const (
	eventsBatch = 64 << 10 // bytes that are gathered before they are sent
	maxFollowed = 64       // sessions
)

// eventStream is the events of sessions as server-sent events (the format is that of the
// HTML standard, section "Server-sent events").
type eventStream struct {
	s           *Server
	x           *exchange
	conn        *host.Conn
	device      bool // also what is told of the device; else it is of one session and ends with it
	persistent  bool // no other events
	interactive bool // its client can answer what people are asked
	tail        int
	at          places
	buf         []byte
	ended       bool
}

// events answers GET /v1/sessions/{sessionId}/events and GET /v1/events.
func (s *Server) events(x *exchange) {
	e := &eventStream{s: s, x: x, device: x.values["sessionId"] == ""}
	err := e.question()
	if err == nil {
		err = e.open()
	}
	if e.conn != nil {
		defer func() { _ = e.conn.Close() }()
	}
	if err != nil {
		x.fail(err)
		return
	}
	s.metrics.Connected("events")
	defer s.metrics.Disconnected("events")
	x.w.Header().Set("Content-Type", "text/event-stream")
	x.w.Header().Set("X-Accel-Buffering", "no") // a proxy in between shall not gather
	e.buf = append(e.buf, "retry: 1000\n\n"...)
	e.run()
}

// question reads what the request asks for.
func (e *eventStream) question() error {
	known := "tail, types and interactive"
	if e.device {
		known = "session, " + known
	} else {
		e.at = places{{session: protocol.SessionID(e.x.values["sessionId"])}}
	}
	query := e.x.r.URL.Query()
	for name, values := range query {
		value := values[0]
		if len(values) > 1 && (name != "session" || !e.device) {
			return wrong(clipped(name), "The parameter %s is given %d times; give it once.", shown(name), len(values))
		}
		switch {
		case name == "session" && e.device:
			if err := e.follow(values); err != nil {
				return err
			}
		case name == "types":
			if value != "persistent" && value != "all" {
				return wrong(name, "The parameter types is persistent or all, not %s.", shown(value))
			}
			e.persistent = value == "persistent"
		case name == "interactive":
			if value != "true" && value != "false" {
				return wrong(name, "The parameter interactive is true or false, not %s.", shown(value))
			}
			e.interactive = value == "true"
		case name == "tail":
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 || n > protocol.MaxTail {
				return wrong(name, "The parameter tail is a number of events up to %d, not %s.", protocol.MaxTail, shown(value))
			}
			e.tail = n
		default:
			return wrong(clipped(name), "There is no parameter %s here; there are %s.", shown(name), known)
		}
	}
	if id := e.x.r.Header.Get("Last-Event-ID"); id != "" {
		if err := e.at.parse(id, e.device); err != nil {
			return wrong("Last-Event-ID", "%s; leave the header out to start again.", sentence(err))
		}
	}
	return nil
}

// follow notes the sessions that are asked for.
func (e *eventStream) follow(ids []string) error {
	if len(ids) > maxFollowed {
		return wrong("session", "%d sessions are asked for; one request can follow %d.", len(ids), maxFollowed)
	}
	for _, value := range ids {
		id := protocol.SessionID(value)
		if err := id.Check(); err != nil {
			return wrong("session", "The parameter session: %v.", err)
		}
		if e.at.of(id) != nil {
			return wrong("session", "The session %s is asked for twice.", id)
		}
		e.at = append(e.at, place{session: id})
	}
	return nil
}

// open subscribes to the sessions, on a connection of its own.
func (e *eventStream) open() (err error) {
	for _, p := range e.at {
		if err := p.session.Check(); err != nil {
			return wrong("sessionId", "%v.", err)
		}
	}
	if e.conn, err = e.s.own(e.x.r.Context(), "HTTP events", e.interactive); err != nil {
		return err
	}
	device, _ := e.s.cfg.Host.Device()
	for _, p := range e.at {
		r := &protocol.OpenSession{Tail: e.tail}
		if !p.none() {
			r.Anchors = p.anchors(device)
		}
		if _, err := e.x.call(e.conn, e.s.fresh(p.session, r)); err != nil {
			return err
		}
	}
	return nil
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
				for _, p := range e.at {
					e.control(&protocol.SessionClosed{SessionID: p.session, Err: why})
				}
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

// frame appends a frame. What is told of other sessions and clients has its place only
// in what follows the device.
func (e *eventStream) frame(f protocol.Frame) {
	switch f := f.(type) {
	case *protocol.ResyncFrame:
		e.s.metrics.Resync(string(f.Mode))
		if at := e.at.of(f.SessionID); at != nil {
			at.resync(f.Mode)
		}
		e.control(f) // without an id: nothing has come yet
	case *protocol.EventsFrame:
		e.events(f)
	case *protocol.LiveFrame:
		if at := e.at.of(f.SessionID); at != nil {
			at.live(&f.Live)
		}
		e.message("live", true, f)
	case *protocol.SessionClosed:
		e.control(f)
		e.ended = !e.device
	case *protocol.HostStopping:
		e.control(f)
	default:
		if e.device {
			e.control(f)
		}
	}
}

// events appends the events of a frame.
func (e *eventStream) events(f *protocol.EventsFrame) {
	at := e.at.of(f.SessionID)
	for _, ev := range f.Events {
		if at != nil {
			at.event(ev)
		}
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
		oneLine(e.buf[before:])
		e.buf = append(e.buf, "\n\n"...)
	}
}

// oneLine makes blanks of the carriage returns in JSON, which stand between its values
// alone: they end a line of a stream. Lines of a log from elsewhere may have them.
func oneLine(data []byte) {
	for {
		i := bytes.IndexByte(data, '\r')
		if i < 0 {
			return
		}
		data[i] = ' '
		data = data[i:]
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
		if at := e.at.text(e.device); at != "" {
			e.buf = append(append(append(e.buf, "id: "...), at...), '\n')
		}
	}
	e.buf = append(e.buf, "data: "...)
}

// sentence returns an error's text with a capital letter in front.
func sentence(err error) string {
	s := err.Error()
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:]
	}
	return s
}
