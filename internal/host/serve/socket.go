package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"scorel/internal/host"
	"scorel/protocol"
)

// Bounds of messages; see docs/limits.md.
const (
	// maxRead is the longest message that is read: a call of [protocol.MaxMessage] is
	// refused with its requestId, what is longer ends the connection.
	maxRead = protocol.MaxMessage + 64<<10
	// keepBuffer is how much of a buffer a connection keeps between messages.
	keepBuffer = 128 << 10
	// pingTime is how long a ping may take before the next thing is done.
	pingTime = 5 * time.Second
	// closeTime is how long the other side may take to close too.
	closeTime = 5 * time.Second
	// busyWrite is how long a write may take before pings of the client are left
	// unanswered: it would not read the answer either.
	busyWrite = time.Second
)

// socket is a WebSocket connection of a client that has proved itself. One goroutine
// reads, one writes; calls run in their own.
type socket struct {
	s      *Server
	ws     *websocket.Conn
	st     *stream
	conn   *host.Conn
	ctx    context.Context // of reads; ends with the connection
	calls  *calls
	pings  sync.WaitGroup
	answer chan protocol.Reply
	wrote  chan struct{} // closed when the writer has ended: nobody takes replies any more

	writing atomic.Int64 // when the write in progress began, by the clock of the stream; 0: none

	once   sync.Once
	ending chan struct{} // closed when the connection is to end
	status websocket.StatusCode
	why    string
}

// webSocket carries one WebSocket connection from its handshake to its end.
func (s *Server) webSocket(l *listener, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		writeError(w, http.StatusMethodNotAllowed, invalid("%s is for WebSocket connections, which begin with GET.", WebSocketPath))
		return
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		writeError(w, http.StatusUpgradeRequired, invalid("%s is for WebSocket connections; scripts use the paths of docs/http.md.", WebSocketPath))
		return
	}
	var token string
	if saysBearer(r) {
		var why *refusal
		if token, why = s.bearer(r); why != nil {
			s.turnAwayHTTP(w, r, l, why)
			return
		}
	}
	st := streamOf(r.Context())
	c := &socket{s: s, st: st, answer: make(chan protocol.Reply, 16), wrote: make(chan struct{}), ending: make(chan struct{})}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the origin has been checked
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     func(context.Context, []byte) bool { return !c.stuck() },
	})
	if err != nil {
		return // it has been answered
	}
	c.ws = ws
	l.unproven.spoke(st)
	ws.SetReadLimit(-1) // the limits are those of readFirst and read, which can say so
	hello, p, err := s.acceptHandshake(ws, dialled{address: l.dialled(r), from: l.cameFrom(r)}, token)
	if err != nil {
		s.turnAway(ws, st, err)
		return
	}
	conn, forget, err := s.connect(hello, p)
	if err != nil {
		s.turnAway(ws, st, err)
		return
	}
	defer forget()
	c.conn = conn
	l.unproven.remove(st)
	s.metrics.Connected(string(l.kind))
	defer s.metrics.Disconnected(string(l.kind))
	c.run(p.grant)
}

// connect lets a client in that has proved itself. Whoever was taken off the list, or
// came with a token that was replaced, before the host knew of this connection would
// otherwise stay; forget is called when the connection has ended.
func (s *Server) connect(hello protocol.Hello, p *proof) (conn *host.Conn, forget func(), err error) {
	if conn, err = s.cfg.Host.Connect(s.ctx, hello, p.grant); err != nil {
		return nil, nil, &refusal{reasonMessage, protocol.AsError(err)}
	}
	if p.token != "" {
		forget = s.byToken(func() { conn.End(errToken()) })
		if s.cfg.Token() == p.token {
			return conn, forget, nil
		}
		forget()
		_ = conn.Close()
		return nil, nil, &refusal{reasonProof, errToken()}
	}
	_, now, ok, err := s.lookup(hello.ClientID)
	if err != nil {
		_ = conn.Close()
		return nil, nil, s.errList(err)
	}
	if !ok || now != p.grant {
		_ = conn.Close()
		return nil, nil, refuse(reasonEntry, "What this entry may do has just been changed; connect again.")
	}
	return conn, func() {}, nil
}

// run carries messages until one side ends the connection.
func (c *socket) run(grant protocol.Grant) {
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithCancel(context.Background())
	c.calls = newCalls(c.handle)
	device, _ := c.s.cfg.Host.Device()
	if err := writeMessage(c.ws, "connected", protocol.Connected{DeviceID: device, Grant: grant, Version: c.s.cfg.Version}); err != nil {
		c.end(websocket.StatusGoingAway, "")
	}
	go c.write()   // ends with the connection
	defer func() { // also when reading panics
		c.end(websocket.StatusNormalClosure, "")
		cancel()
		<-c.wrote
		c.calls.close()
		_ = c.conn.Close()
		c.calls.wait()
		c.pings.Wait()
	}()
	c.read()
}

// end lets the connection end; the first reason counts.
func (c *socket) end(status websocket.StatusCode, why string) {
	c.once.Do(func() {
		c.status, c.why = status, why
		close(c.ending)
	})
}

// read takes calls until the line ends.
func (c *socket) read() {
	defer func() {
		if r := recover(); r != nil {
			c.s.cfg.Host.Caught("reading from a client", r)
			_ = c.ws.CloseNow() // wakes the writer
		}
	}()
	var buf []byte
	for {
		typ, r, err := c.ws.Reader(context.Background()) // the line ends it
		if errors.Is(err, context.DeadlineExceeded) && !c.over() {
			continue // the answer to a ping found no room; the client is slow, not gone
		}
		if err != nil {
			_ = c.ws.CloseNow() // wakes the writer
			return
		}
		if cap(buf) > keepBuffer {
			buf = nil
		}
		if buf, err = readMessage(r, buf[:0]); err != nil {
			if errors.Is(err, errTooLarge) {
				c.s.refused(refuse(reasonTooLarge, "A message was longer than %d bytes.", maxRead), peerName(c.st.l.kind, c.st.Conn))
				c.reply(protocol.Reply{RequestID: protocol.RequestIDIn(buf), Err: protocol.Errorf(protocol.CodePayloadTooLarge,
					"A message may have at most %d bytes; send large content with put_blob.", protocol.MaxMessage)})
				c.end(websocket.StatusMessageTooBig, "a message has at most 1 MiB")
				<-c.wrote
			}
			_ = c.ws.CloseNow()
			return
		}
		if typ != websocket.MessageText {
			c.end(websocket.StatusUnsupportedData, "messages are text")
			<-c.wrote
			return
		}
		if !utf8.Valid(buf) {
			c.end(websocket.StatusInvalidFramePayloadData, "messages are UTF-8") // RFC 6455, section 8.1
			<-c.wrote
			return
		}
		call, err := protocol.ParseCall(buf)
		if err != nil {
			c.s.metrics.Request("invalid", string(protocol.AsError(err).Code), 0)
			c.reply(protocol.Reply{RequestID: protocol.RequestIDIn(buf), Err: protocol.AsError(err)})
			continue
		}
		c.calls.take(call, len(buf))
	}
}

func (c *socket) over() bool {
	select {
	case <-c.st.gone:
		return true
	case <-c.wrote:
		return true
	default:
		return false
	}
}

var errTooLarge = errors.New("the message is too large")

// readMessage appends a message to buf.
func readMessage(r io.Reader, buf []byte) ([]byte, error) {
	if cap(buf) == 0 {
		buf = make([]byte, 0, 4096)
	}
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), maxRead+1)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > maxRead:
			return buf, errTooLarge
		case err == io.EOF:
			return buf, nil
		case err != nil:
			return buf, err
		}
	}
}

// handle carries out one call and hands its reply to the writer. What acts goes on
// when the client has gone: it may have asked for it and closed its lid.
func (c *socket) handle(call protocol.Call) {
	defer c.s.cfg.Host.Rescue("carrying out a call")
	ctx := c.ctx
	if call.Request.Spec().Mutates {
		ctx = c.s.ctx
	}
	reply, err := c.s.call(ctx, c.conn, call)
	if err != nil {
		return // the connection is closed
	}
	c.reply(reply)
}

// call carries out one call and counts it.
func (s *Server) call(ctx context.Context, conn *host.Conn, call protocol.Call) (protocol.Reply, error) {
	start := time.Now()
	reply, err := conn.Call(ctx, call)
	result := "ok"
	switch {
	case err != nil:
		result = "closed"
	case reply.Err != nil:
		result = string(reply.Err.Code)
	}
	s.metrics.Request(call.Request.Spec().Name, result, time.Since(start))
	return reply, err
}

// reply hands a reply to the writer.
func (c *socket) reply(r protocol.Reply) {
	select {
	case c.answer <- r:
	case <-c.wrote:
	}
}

// stuck says that the client does not take what it is sent.
func (c *socket) stuck() bool {
	since := c.writing.Load()
	return since != 0 && time.Duration(c.st.clock()-since) > busyWrite
}

// write writes replies and frames until the connection is to end, then what is
// there, and closes it.
func (c *socket) write() {
	defer close(c.wrote)
	defer func() {
		if r := recover(); r != nil {
			c.s.cfg.Host.Caught("writing to a client", r)
			c.end(websocket.StatusInternalError, "a fault inside Scorel")
			_ = c.ws.CloseNow()
		}
	}()
	tick := time.NewTicker(c.s.times.ping)
	defer tick.Stop()
	var buf []byte
	alive := true
	for alive {
		select {
		case r := <-c.answer: // before frames
			buf, alive = c.writeReply(buf, r)
			continue
		default:
		}
		select {
		case r := <-c.answer:
			buf, alive = c.writeReply(buf, r)
		case f := <-c.conn.Frames():
			buf, alive = c.writeFrame(buf, f)
		case <-tick.C:
			alive = c.keepAlive()
		case <-c.conn.Done():
			c.hostEnded(buf)
			alive = false
		case <-c.ending:
			c.drain(buf)
			alive = false
		case <-c.s.stopping:
			c.finish(buf)
			alive = false
		}
	}
	c.end(websocket.StatusGoingAway, "") // a write has failed
	closeWebSocket(c.ws, c.st, c.status, c.why)
}

// closeWebSocket closes a connection with a status. The other side gets a moment to
// say the same; one that goes on with a message for ever is cut off.
func closeWebSocket(ws *websocket.Conn, st *stream, status websocket.StatusCode, why string) {
	cut := time.AfterFunc(closeTime, func() { _ = st.Close() })
	defer cut.Stop()
	_ = ws.Close(status, why)
}

// hostEnded tells the client that the host has ended the connection, and why.
func (c *socket) hostEnded(buf []byte) {
	status, why := websocket.StatusGoingAway, c.conn.Why()
	if why != nil {
		status = websocket.StatusPolicyViolation
		c.s.reporter.report("ended", "ended the connection of "+peerName(c.st.l.kind, c.st.Conn)+": "+why.Message)
	}
	if why != nil {
		c.drain(buf)
		c.writeReply(buf, protocol.Reply{Err: why})
		c.end(status, closeReason(why))
		return
	}
	// What was being carried out, the request to stop among it, gets its answer.
	c.answerRest(buf, time.After(c.s.times.answers))
	c.end(status, "the host has closed the connection")
}

// maxCloseReason bounds the words of a close frame, in bytes (RFC 6455, section 5.5:
// 125 with the status).
const maxCloseReason = 123

// closeReason returns the words with which a connection is closed: the sentence, or its
// code when that is too long.
func closeReason(why *protocol.Error) string {
	if len(why.Message) > maxCloseReason {
		return string(why.Code)
	}
	return why.Message
}

// finish answers what is being carried out when the server is shut down.
func (c *socket) finish(buf []byte) {
	c.answerRest(buf, nil)
	c.end(websocket.StatusGoingAway, "the host stops")
}

// answerRest takes no further call, and writes answers and frames until everything
// is answered, or until late.
func (c *socket) answerRest(buf []byte, late <-chan time.Time) {
	c.calls.close()
	tick := time.NewTicker(endGrace)
	defer tick.Stop()
	alive := true
	for alive && !c.calls.idle() {
		select {
		case r := <-c.answer:
			buf, alive = c.writeReply(buf, r)
		case f := <-c.conn.Frames():
			buf, alive = c.writeFrame(buf, f)
		case <-tick.C:
		case <-c.s.ctx.Done():
			alive = false
		case <-late:
			alive = false
		case <-c.ending:
			alive = false
		}
	}
	c.drain(buf)
}

// drain writes what is there.
func (c *socket) drain(buf []byte) {
	alive := true
	for alive {
		select {
		case r := <-c.answer:
			buf, alive = c.writeReply(buf, r)
			continue
		default:
		}
		select {
		case f := <-c.conn.Frames():
			buf, alive = c.writeFrame(buf, f)
		default:
			return
		}
	}
}

// keepAlive ends a connection whose client is gone, and asks the others for a sign.
func (c *socket) keepAlive() bool {
	if c.st.silent() > c.s.times.silence {
		c.s.metrics.Silent()
		_ = c.ws.CloseNow()
		return false
	}
	c.pings.Go(func() {
		defer c.s.cfg.Host.Rescue("asking a client for a sign")
		ctx, cancel := context.WithTimeout(c.ctx, pingTime)
		defer cancel()
		_ = c.ws.Ping(ctx) // what counts is that something comes
	})
	return true
}

func (c *socket) writeReply(buf []byte, r protocol.Reply) ([]byte, bool) {
	data, err := r.MarshalJSON()
	if err != nil {
		data, err = protocol.Reply{RequestID: r.RequestID, Err: protocol.Errorf(protocol.CodeInternalError, "The answer cannot be written: %v.", err)}.MarshalJSON()
	}
	if err != nil {
		return buf, false
	}
	c.s.metrics.Reply(len(data))
	return buf, c.put(data)
}

func (c *socket) writeFrame(buf []byte, f protocol.Frame) ([]byte, bool) {
	if cap(buf) > keepBuffer {
		buf = nil
	}
	buf, err := protocol.AppendFrame(buf[:0], f)
	if err != nil {
		c.s.reporter.report("frame", "a "+f.FrameName()+" frame cannot be written: "+err.Error())
		c.end(websocket.StatusInternalError, "a frame cannot be written")
		return buf, false
	}
	if r, ok := f.(*protocol.ResyncFrame); ok {
		c.s.metrics.Resync(string(r.Mode))
	}
	c.s.metrics.Frame(len(buf))
	return buf, c.put(buf)
}

// put writes one message; false is the end of the connection. The stream sees to it
// that it does not take for ever.
func (c *socket) put(data []byte) bool {
	c.writing.Store(c.st.clock())
	err := c.ws.Write(context.Background(), websocket.MessageText, data)
	c.writing.Store(0)
	return err == nil
}

func errStopping() *protocol.Error {
	return protocol.Errorf(protocol.CodeInternalError, "The host stops; try again when it runs.")
}
