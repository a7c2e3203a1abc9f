package serve

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"time"

	"scorel/internal/host"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

// lines is the connection of a parent process: JSON messages, one per line. One goroutine
// reads, the caller of [Server.Lines] writes; calls run in their own.
type lines struct {
	s      *Server
	conn   *host.Conn
	ctx    context.Context // of reads; ends with the connection
	calls  *calls
	answer chan protocol.Reply
	over   chan struct{} // closed when nobody takes replies any more
	out    io.Writer
}

// Lines carries the protocol over in and out, one JSON message per line, for the process
// that has started this one. There is no handshake: whoever holds these ends is the user.
// The first line that is written is connected. It returns when in ends and everything is
// answered, when out fails, or when the host or the server ends; a read of in that has
// not returned by then goes on in a goroutine until it does. [Server.Shutdown] does not
// wait for Lines: a parent that does not read could hold it up for ever.
func (s *Server) Lines(in io.Reader, out io.Writer) error {
	device, _ := s.cfg.Host.Device()
	hello := protocol.Hello{ProtocolVersion: protocol.Version, ClientID: protocol.ClientIDOf([]byte("parent process on " + string(device))),
		ClientName: "parent process", Interactive: true}
	conn, err := s.cfg.Host.Connect(s.ctx, hello, protocol.GrantControl)
	if err != nil {
		return err
	}
	c := &lines{s: s, conn: conn, answer: make(chan protocol.Reply, 16), over: make(chan struct{}), out: out}
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithCancel(context.Background())
	c.calls = newCalls(c.handle)
	defer func() {
		cancel()
		close(c.over)
		c.calls.close()
		_ = conn.Close()
		c.calls.wait()
	}()
	if err := c.connected(device); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.read(in) }() // ends with in, or with its next line after the connection
	return c.write(ended)
}

// connected writes the first line.
func (c *lines) connected(device protocol.DeviceID) error {
	data, err := json.Marshal(struct {
		Type string `json:"type"`
		protocol.Connected
	}{"connected", protocol.Connected{DeviceID: device, Grant: protocol.GrantControl, Version: c.s.cfg.Version}})
	if err != nil {
		return err
	}
	return c.put(data)
}

// read takes calls until the input ends; the end of the input is no error, and a panic is
// one.
func (c *lines) read(in io.Reader) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.s.cfg.Host.Caught("reading from the parent process", r)
			err = fault.Caught(r)
		}
	}()
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, long, err := readLine(r)
		switch {
		case long:
			c.reply(protocol.Reply{RequestID: protocol.RequestIDIn(line), Err: protocol.Errorf(protocol.CodePayloadTooLarge,
				"A message may have at most %d bytes; send large content with put_blob.", protocol.MaxMessage)})
		case len(bytes.TrimSpace(line)) > 0:
			call, perr := protocol.ParseCall(line)
			if perr != nil {
				c.s.metrics.Request("invalid", string(protocol.AsError(perr).Code), 0)
				c.reply(protocol.Reply{RequestID: protocol.RequestIDIn(line), Err: protocol.AsError(perr)})
				break
			}
			c.calls.take(call, len(line))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-c.over:
			return nil
		default:
		}
	}
}

// readLine reads a line without its end. Of one that is too long the beginning is given.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if room := protocol.MaxMessage + 1 - len(line); len(piece) > room {
			piece, long = piece[:room], true
		}
		line = append(line, piece...)
		if err != bufio.ErrBufferFull {
			return bytes.TrimSuffix(line, []byte("\n")), long, err
		}
	}
}

// handle carries out one call. What acts goes on when the parent has gone.
func (c *lines) handle(call protocol.Call) {
	defer c.s.cfg.Host.Rescue("carrying out a call")
	ctx := c.ctx
	if call.Request.Spec().Mutates {
		ctx = c.s.ctx
	}
	if reply, err := c.s.call(ctx, c.conn, call); err == nil { // else the connection is closed
		c.reply(reply)
	}
}

func (c *lines) reply(r protocol.Reply) {
	select {
	case c.answer <- r:
	case <-c.over:
	}
}

// write writes replies and frames until the connection is to end, and then what is still
// being answered.
func (c *lines) write(ended <-chan error) error {
	var err, readErr error
	for done := false; !done && err == nil; {
		select {
		case r := <-c.answer:
			err = c.putReply(r)
		case f := <-c.conn.Frames():
			err = c.putFrame(f)
		case readErr = <-ended:
			done = true
		case <-c.conn.Done():
			done = true
		case <-c.s.stopping:
			done = true
		}
	}
	if err == nil {
		err = c.answerRest()
	}
	return cmp.Or(err, readErr)
}

// answerRest writes answers and frames until everything is answered, or the host has
// ended and some time has passed.
func (c *lines) answerRest() error {
	tick := time.NewTicker(endGrace)
	defer tick.Stop()
	var late <-chan time.Time
	for {
		if late == nil && over(c.conn) {
			timer := time.NewTimer(c.s.times.answers)
			defer timer.Stop()
			late = timer.C
		}
		settled := c.calls.settled() // asked before: what is answered until then is in the channel
		for more := true; more; {
			select {
			case r := <-c.answer:
				if err := c.putReply(r); err != nil {
					return err
				}
			default:
				more = false
			}
		}
		if settled {
			return nil
		}
		var err error
		select {
		case r := <-c.answer:
			err = c.putReply(r)
		case f := <-c.conn.Frames():
			err = c.putFrame(f)
		case <-tick.C:
		case <-late:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (c *lines) putReply(r protocol.Reply) error {
	data, err := r.MarshalJSON()
	if err != nil {
		data, err = protocol.Reply{RequestID: r.RequestID, Err: protocol.Errorf(protocol.CodeInternalError, "The answer cannot be written: %v.", err)}.MarshalJSON()
	}
	if err != nil {
		return err
	}
	c.s.metrics.Reply(len(data))
	return c.put(data)
}

func (c *lines) putFrame(f protocol.Frame) error {
	data, err := protocol.MarshalFrame(f)
	if err != nil {
		return err
	}
	c.s.metrics.Frame(len(data))
	return c.put(data)
}

// put writes one message with its line end.
func (c *lines) put(data []byte) error {
	_, err := c.out.Write(append(data, '\n'))
	return err
}
