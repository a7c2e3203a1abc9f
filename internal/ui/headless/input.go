package headless

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"scorel/client"
	"scorel/protocol"
)

// input reads requests, one a line, and has them handled on a connection of its own: that
// of a client which can be asked, until the input ends.
type input struct {
	ctx     context.Context // ends with the run
	cancel  context.CancelFunc
	dial    func(ctx context.Context, interactive bool) (client.Transport, error)
	session protocol.SessionID
	post    func(do func() error) // has something done by the goroutine of the run

	mu   sync.Mutex // guards conn; nothing is waited for under it
	conn client.Transport
}

// newInput connects, and opens the session so that questions wait for answers.
func newInput(ctx context.Context, dial func(ctx context.Context, interactive bool) (client.Transport, error), id protocol.SessionID) (*input, error) {
	in := &input{dial: dial, session: id}
	in.ctx, in.cancel = context.WithCancel(ctx)
	var err error
	if in.conn, err = in.connect(true); err != nil {
		in.cancel()
		return nil, err
	}
	if r := in.handle(in.newCall(&protocol.OpenSession{})); r.Err != nil {
		in.close()
		return nil, r.Err
	}
	return in, nil
}

// connect makes a connection whose frames are dropped: what happens in the session is
// printed from another one.
func (in *input) connect(interactive bool) (client.Transport, error) {
	conn, err := in.dial(in.ctx, interactive)
	if err != nil {
		return nil, err
	}
	go func() { // ends with the connection
		for err := error(nil); err == nil; {
			_, err = conn.Recv(in.ctx)
		}
	}()
	return conn, nil
}

// close ends the connection, and the waiting of what reads.
func (in *input) close() {
	in.cancel()
	_ = in.transport().Close()
}

func (in *input) transport() client.Transport {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.conn
}

// refuseQuestions goes on with a connection that cannot be asked: questions that are open,
// and those that are still to come, are refused. What is on its way is answered.
func (in *input) refuseQuestions() error {
	next, err := in.connect(false)
	if err != nil {
		return err
	}
	in.mu.Lock()
	before := in.conn
	in.conn = next
	in.mu.Unlock()
	return before.Close()
}

func (in *input) newCall(r protocol.Request) protocol.Call {
	return protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: in.session, Request: r}
}

// handle has the host handle a request and returns its answer.
func (in *input) handle(c protocol.Call) protocol.Reply {
	r, err := in.transport().Call(in.ctx, c)
	if err != nil {
		return protocol.Reply{RequestID: c.RequestID, Err: protocol.AsError(err)}
	}
	return r
}

// read sends a prompt, unless it is nil, then takes lines until r ends and has each
// answered; ended is called when all are answered. Both are posted, and so is the failure
// of the prompt, which ends the run.
func (in *input) read(prompt protocol.Request, r io.Reader, answer func(protocol.Reply) error, ended func() error) {
	requests := newOrder()
	if prompt != nil {
		requests.start(prompt, func() {
			if r := in.handle(in.newCall(prompt)); r.Err != nil {
				in.post(func() error { return r.Err })
			}
		})
	}
	reply := func(r protocol.Reply) { in.post(func() error { return answer(r) }) }
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, long, err := ReadLine(lines)
		switch {
		case long:
			reply(protocol.Reply{RequestID: protocol.RequestIDIn(line), Err: protocol.Errorf(protocol.CodePayloadTooLarge, "Line %d has more than %d bytes; send files with put_blob, in parts.", n, protocol.MaxMessage)})
		case len(bytes.TrimSpace(line)) > 0:
			call, problem := in.parse(line)
			if problem != nil {
				reply(protocol.Reply{RequestID: cmp.Or(call.RequestID, protocol.RequestIDIn(line)), Err: &protocol.Error{Code: problem.Code, Message: fmt.Sprintf("Line %d: %s", n, problem.Message), Details: problem.Details}})
			} else if !requests.start(call.Request, func() { reply(in.handle(call)) }) {
				reply(protocol.Reply{RequestID: call.RequestID, Err: protocol.Errorf(protocol.CodeRateLimited, "Line %d: %d requests wait already; send it again when one is answered.", n, maxOpen)})
			}
		}
		if err != nil {
			if err != io.EOF {
				reply(protocol.Reply{Err: protocol.Errorf(protocol.CodeInternalError, "Reading the input failed: %v.", err)})
			}
			break
		}
	}
	in.end(requests, ended)
}

// end waits for the answers to all requests. Where one takes long it may be a question that
// nobody can answer any more, so those are refused then.
func (in *input) end(requests *order, ended func() error) {
	all := make(chan struct{})
	go func() { requests.wait(); close(all) }() // ends with the requests
	select {
	case <-all:
	case <-time.After(inOrder):
		in.post(in.refuseQuestions)
		<-all
	}
	in.post(ended)
}

// longHead is how much is kept of a line that is too long, in bytes: enough for its requestId.
const longHead = 4 << 10

// ReadLine reads a line without its end; one that is too long is read to its end, and only
// its beginning is kept.
func ReadLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > protocol.MaxMessage+1 {
			line, long = line[:min(len(line), longHead)], true
		}
		if !long {
			line = append(line, piece...)
		}
		if err != bufio.ErrBufferFull {
			return line, long, err
		}
	}
}

// parse reads a request. The requestId may be left out; the sessionId may, and is
// that of the run.
func (in *input) parse(line []byte) (protocol.Call, *protocol.Error) {
	var fields map[string]json.RawMessage
	switch err := json.Unmarshal(line, &fields); {
	case err != nil:
		return protocol.Call{}, protocol.NotJSON(err, "line", line, &fields)
	case fields == nil: // null
		return protocol.Call{}, protocol.Errorf(protocol.CodeInvalidRequest, "It is not a JSON object with a request, but null.")
	}
	if id, ok := fields["requestId"]; !ok || string(id) == "null" {
		var err error
		fields["requestId"], _ = json.Marshal(protocol.NewRequestID(rand.Reader)) // a string always marshals
		if line, err = json.Marshal(fields); err != nil {
			return protocol.Call{}, protocol.Errorf(protocol.CodeInvalidRequest, "It cannot be read: %v.", err)
		}
	}
	call, err := protocol.ParseCall(line)
	if err != nil {
		return call, protocol.AsError(err)
	}
	if call.SessionID == "" {
		call.SessionID = in.session
	}
	return call, in.refuse(call)
}

// refuse says what requests do not belong into a run.
func (in *input) refuse(c protocol.Call) *protocol.Error {
	switch c.Request.(type) {
	case *protocol.CreateSession, *protocol.CloneSession, *protocol.ImportSession:
		return protocol.Errorf(protocol.CodeForbidden, "%s makes another session, and this run has its own; use a run of its own, with --fork or --session.", c.Request.Spec().Name)
	case *protocol.OpenSession, *protocol.CloseSession, *protocol.DeleteSession:
		return protocol.Errorf(protocol.CodeForbidden, "%s is not for a run, which has its session open; end the input to end it.", c.Request.Spec().Name)
	}
	if c.SessionID != in.session {
		return protocol.Errorf(protocol.CodeForbidden, "This run works in the session %s; leave sessionId out.", in.session)
	}
	return nil
}
