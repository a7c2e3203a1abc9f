package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"scorel/client"
	"scorel/protocol"
)

// maxBeside is how many requests that take long are carried out beside the others.
const maxBeside = 4

// input reads requests from stdin, one a line, and has them carried out in order
// on a connection of its own: that of a client which can be asked, until the input
// ends.
type input struct {
	conn    client.Transport
	session protocol.SessionID
	replies chan protocol.Reply // one for each line that is not blank
	done    chan struct{}       // closed when nobody takes replies any more
}

// newInput connects, and opens the session so that questions wait for answers.
func newInput(ctx context.Context, l *link, id protocol.SessionID) (*input, error) {
	conn, err := l.dial(ctx, true)
	if err != nil {
		return nil, err
	}
	in := &input{conn: conn, session: id, replies: make(chan protocol.Reply), done: make(chan struct{})}
	// What happens in the session is printed from another connection; the frames of
	// this one are dropped. It ends with the connection.
	go func() {
		for err := error(nil); err == nil; {
			_, err = conn.Recv(ctx)
		}
	}()
	if r := in.carryOut(ctx, in.newCall(&protocol.OpenSession{})); r.Err != nil {
		_ = conn.Close()
		return nil, r.Err
	}
	return in, nil
}

func (in *input) newCall(r protocol.Request) protocol.Call {
	return protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: in.session, Request: r}
}

func (in *input) carryOut(ctx context.Context, c protocol.Call) protocol.Reply {
	r, err := in.conn.Call(ctx, c)
	if err != nil {
		return protocol.Reply{RequestID: c.RequestID, Err: protocol.AsError(err)}
	}
	return r
}

// read takes lines until r ends, waits until all are carried out, and closes
// replies.
func (in *input) read(ctx context.Context, r io.Reader) {
	defer close(in.replies)
	var beside sync.WaitGroup
	defer beside.Wait()
	slots := make(chan struct{}, maxBeside)
	lines := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, long, err := readLine(lines)
		switch {
		case long:
			in.tell(protocol.Reply{Err: protocol.Errorf(protocol.CodePayloadTooLarge, "Line %d has more than %d bytes; send files with put_blob, in parts.", n, protocol.MaxMessage)})
		case len(bytes.TrimSpace(line)) > 0:
			call, perr := in.parse(line)
			if perr == nil && comesBehind(call.Request) {
				beside.Wait()
			}
			switch {
			case perr != nil:
				in.tell(protocol.Reply{RequestID: call.RequestID, Err: protocol.Errorf(perr.Code, "Line %d: %s", n, perr.Message)})
			case takesLong(call.Request):
				slots <- struct{}{}
				beside.Go(func() { // ends with the request; awaited above
					defer func() { <-slots }()
					in.tell(in.carryOut(ctx, call))
				})
			default:
				in.tell(in.carryOut(ctx, call))
			}
		}
		if err != nil {
			if err != io.EOF {
				in.tell(protocol.Reply{Err: protocol.Errorf(protocol.CodeInternalError, "Reading the input failed: %v.", err)})
			}
			return
		}
	}
}

// comesBehind says whether a request builds on what those before it leave, so that
// it waits for the ones that take long: a message behind compact would begin a turn,
// and compact be refused for that.
func comesBehind(r protocol.Request) bool {
	switch r := r.(type) {
	case *protocol.SendMessage, *protocol.FollowUp, *protocol.ResumeQueue, *protocol.CompactSession:
		return true
	case *protocol.RewindTo:
		return r.CancelFirst == ""
	case *protocol.BranchTo:
		return r.CancelFirst == ""
	}
	return false
}

// takesLong says whether a request waits for a model, for the end of a turn or for
// that of a command, so that those behind it, such as cancel, are not to wait for it.
func takesLong(r protocol.Request) bool {
	switch r := r.(type) {
	case *protocol.CompactSession, *protocol.StopTask:
		return true
	case *protocol.RewindTo:
		return r.CancelFirst != ""
	case *protocol.BranchTo:
		return r.CancelFirst != ""
	}
	return false
}

func (in *input) tell(r protocol.Reply) {
	select {
	case in.replies <- r:
	case <-in.done:
	}
}

// readLine reads a line without its end; one that is too long is read to its end
// and not kept.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > protocol.MaxMessage+1 {
			line, long = nil, true
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

// errNothing says that the input held no request.
var errNothing = errors.New("the input held no request; send lines such as {\"type\":\"send_message\",\"content\":[{\"type\":\"text\",\"text\":\"…\"}]}")

// empty is the error of a run that was asked for nothing.
func empty() error { return usageError{fmt.Errorf("%w", errNothing)} }
