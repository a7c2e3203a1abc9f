package extension

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"scorel/internal/extension/rpc"
	"scorel/internal/platform/fault"
	"scorel/protocol/jsonscan"
)

// Bounds of a connection to a process.
const (
	maxCalls    = 256      // calls of ours that wait for an answer
	maxServed   = 64       // calls of its that are being carried out
	maxParams   = 80 << 20 // bytes of their parameters
	maxCallID   = 256      // bytes of the id of one
	maxNesting  = 500      // levels of JSON in a message; the log takes 960 of an event
	maxQueue    = 1024     // frames that wait to be written
	maxQueued   = 80 << 20 // bytes of them: the largest message and what belongs to it
	maxDropped  = 16 << 20 // bytes beyond which notifications are dropped
	maxBadLines = 100      // lines that are not JSON of which the diagnostics get told
)

// Errors of calls. Both may be wrapped with what happened.
var (
	errGone = errors.New("its process has ended")
	errBusy = errors.New("too many calls wait for its answer")
)

// RemoteError is what a process answered a call with.
type RemoteError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *RemoteError) Error() string { return e.Message }

// place returns where in an extension's own files an error came from, as the end of a
// sentence; "" when that is not known or is in the message.
func (e *RemoteError) place() string {
	if at := e.Place(); at != "" {
		return " at " + at
	}
	return ""
}

// Place returns where in an extension's own files an error came from, for people; "" when
// that is not known or is in the message.
func (e *RemoteError) Place() string {
	var d rpc.ErrorData
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &d) != nil {
		return ""
	}
	return placeIn(d.Stack, e.Message)
}

// placeIn returns the first line of a stack, "" for none and for one that the message has.
func placeIn(stack, message string) string {
	line, _, _ := strings.Cut(stack, "\n")
	line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "at "))
	if line == "" || strings.Contains(message, line) {
		return ""
	}
	return clip(line, 300)
}

// errCancelled is the code of a cancelled request, as in the Language Server Protocol.
const errCancelled = -32800

// frame is any message of JSON-RPC.
type frame struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *RemoteError    `json:"error,omitempty"`
}

// peer is our end of a connection. One goroutine reads, one writes; neither waits for
// the other, so both sides may write at once. Calls of the process are served each in
// a goroutine; its notifications in the reader, in their order and before what comes
// after them.
type peer struct {
	// serve carries out a request of the process; note takes a notification and must
	// not block. broken is told once why the connection cannot go on.
	serve  func(ctx context.Context, method string, params json.RawMessage) (any, error)
	note   func(method string, params json.RawMessage)
	report func(what string, detail []byte)
	broken func(why error)
	// fault is told of a panic here; nil: it goes on.
	fault func(*fault.Panic)
	// clean takes secrets out of the errors that the process gives.
	clean func(string) string
	// maxParams bounds the parameters of what is served, in bytes; 0: the constant.
	maxParams int

	ctx      context.Context // of what is served; ends with the connection
	cancel   context.CancelFunc
	streams  sync.WaitGroup // the reader and the writer
	requests sync.WaitGroup // what is served; the reader adds to it

	mu sync.Mutex
	outbox
	next    int64
	calls   map[int64]chan frame
	served  map[string]*served // by id as it stands in the request
	params  int                // bytes, of served
	err     error              // why it is closed
	bad     int
	greeted atomic.Bool // it has sent a message: it speaks the protocol
}

// outbox is what waits to be written.
type outbox struct {
	wake    sync.Cond // of the peer's mu: something to write, room, or the end
	queue   [][]byte
	queued  int // bytes, of queue
	dropped int
}

// served is a request of the process that is being carried out.
type served struct {
	method string
	cancel context.CancelFunc
	done   chan struct{} // closed when it has been
}

func newPeer(p *peer) *peer {
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wake.L = &p.mu
	if p.maxParams == 0 {
		p.maxParams = maxParams
	}
	p.calls, p.served = map[int64]chan frame{}, map[string]*served{}
	return p
}

// errNoMessage is what a connection ends with whose first line is not a message.
var errNoMessage = errors.New("its output begins with a line that is not a message of the protocol")

// start begins to read and to write. The goroutines end when the streams do and
// [peer.close] was called.
func (p *peer) start(in io.WriteCloser, out io.Reader) {
	p.streams.Go(func() { p.careful(func() { p.write(in) }) })
	p.streams.Go(func() { p.careful(func() { p.read(out) }) })
}

// careful does what is Scorel's own part of the connection. A panic in it ends the
// connection, and so the process, and what that leaves is tidied as after any other end.
func (p *peer) careful(do func()) {
	defer func() {
		if r := recover(); r != nil {
			caught := fault.Caught(r)
			if p.fault == nil {
				panic(caught)
			}
			p.close(caught)
			p.fault(caught)
		}
	}()
	do()
}

// close ends what waits, with why as the reason.
func (p *peer) close(why error) {
	p.mu.Lock()
	first := p.err == nil
	if first {
		p.err = why
	}
	p.wake.Broadcast()
	calls := p.calls
	p.calls = map[int64]chan frame{}
	p.mu.Unlock()
	p.cancel()
	for _, c := range calls {
		close(c)
	}
	if first && p.broken != nil {
		p.broken(why)
	}
}

// wait returns when nothing is read and written any more. What the process has asked
// for may go on then, with a context that has ended.
func (p *peer) wait() { p.streams.Wait() }

// waitServed returns when nothing that the process has asked for runs any more. It is
// called after wait.
func (p *peer) waitServed() { p.requests.Wait() }

// asked is a call of ours that waits for its answer.
type asked struct {
	p      *peer
	id     int64
	answer chan frame
}

// ask sends a request. before are lines that stand directly before it.
func (p *peer) ask(ctx context.Context, method string, params any, before ...[]byte) (*asked, error) {
	data, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return nil, fmt.Errorf("%w: %w", errGone, p.err)
	}
	if len(p.calls) >= maxCalls {
		p.mu.Unlock()
		return nil, errBusy
	}
	p.next++
	a := &asked{p, p.next, make(chan frame, 1)}
	p.calls[a.id] = a.answer
	p.mu.Unlock()
	line, err := encode(frame{ID: a.idJSON(), Method: method, Params: data})
	if err == nil {
		err = p.put(ctx, append(before, line)...)
	}
	if err != nil {
		p.forget(a.id)
		return nil, err
	}
	return a, nil
}

func (a *asked) idJSON() []byte { return strconv.AppendInt(nil, a.id, 10) }

// wait returns the answer. When ctx ends the process is told, and its answer not waited
// for; the error is the cause of ctx.
func (a *asked) wait(ctx context.Context) (json.RawMessage, error) {
	select {
	case f, ok := <-a.answer:
		switch {
		case !ok:
			return nil, fmt.Errorf("%w: %w", errGone, a.p.reason())
		case f.Error != nil:
			f.Error.Message, f.Error.Data = a.p.clean(f.Error.Message), json.RawMessage(a.p.clean(string(f.Error.Data)))
			return nil, f.Error
		}
		return f.Result, nil
	case <-ctx.Done():
		a.p.forget(a.id)
		if n, err := notification(rpc.NoteCancel, rpc.Cancel{ID: a.idJSON()}); err == nil {
			a.p.tell(n)
		}
		return nil, context.Cause(ctx)
	}
}

// call asks and waits.
func (p *peer) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	a, err := p.ask(ctx, method, params)
	if err != nil {
		return nil, err
	}
	return a.wait(ctx)
}

func (p *peer) forget(id int64) {
	p.mu.Lock()
	delete(p.calls, id)
	p.mu.Unlock()
}

func (p *peer) reason() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// encode returns a message as a line.
func encode(f frame) ([]byte, error) {
	f.JSONRPC = "2.0"
	line, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if len(line) >= rpc.MaxMessage {
		return nil, fmt.Errorf("a message of %d bytes is too long; at most %d", len(line), rpc.MaxMessage)
	}
	return append(line, '\n'), nil
}

func notification(method string, params any) ([]byte, error) {
	data, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	return encode(frame{Method: method, Params: data})
}

// put queues lines that stay together. It waits for room.
func (p *peer) put(ctx context.Context, lines ...[]byte) error {
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		p.wake.Broadcast()
		p.mu.Unlock()
	})
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.err == nil && ctx.Err() == nil && len(p.queue) > 0 && (len(p.queue)+len(lines) > maxQueue || p.queued+n > maxQueued) {
		p.wake.Wait()
	}
	if p.err != nil {
		return fmt.Errorf("%w: %w", errGone, p.err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p.queue, p.queued = append(p.queue, lines...), p.queued+n
	p.wake.Broadcast()
	return nil
}

// drops reports whether there is no room for a notification that may be missed, which is
// counted then.
func (p *peer) drops(line []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	full := p.err == nil && (len(p.queue) >= maxQueue || p.queued+len(line) > maxDropped)
	if full {
		p.dropped++
	}
	return full
}

// tell queues a notification, or drops it when the process does not read. It does not
// wait.
func (p *peer) tell(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.err != nil:
	case len(p.queue) >= maxQueue || p.queued+len(line) > maxDropped:
		p.dropped++
	default:
		p.queue, p.queued = append(p.queue, line), p.queued+len(line)
		p.wake.Broadcast()
	}
}

func (p *peer) write(in io.WriteCloser) {
	defer in.Close()
	for {
		p.mu.Lock()
		for len(p.queue) == 0 && p.err == nil {
			p.wake.Wait()
		}
		if p.err != nil {
			p.mu.Unlock()
			return
		}
		lines, dropped := p.queue, p.dropped
		p.queue, p.queued, p.dropped = nil, 0, 0
		p.wake.Broadcast()
		p.mu.Unlock()
		if dropped > 0 {
			p.report(fmt.Sprintf("%d notifications were dropped, because they were not read", dropped), nil)
		}
		data := lines[0]
		if len(lines) > 1 {
			data = bytes.Join(lines, nil)
		}
		if _, err := in.Write(data); err != nil {
			p.close(fmt.Errorf("it cannot be written to: %w", err))
			return
		}
	}
}

func (p *peer) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := readLine(r, rpc.MaxMessage)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("it closed its output")
			}
			p.close(err)
			return
		}
		if len(line) > 0 {
			p.take(line)
		}
	}
}

// readLine reads a line of at most limit bytes, without its end. What it gives is the
// caller's.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, fmt.Errorf("it sent a message of more than %d bytes", limit)
		}
		line = append(line, part...)
		if err == nil {
			return bytes.TrimSpace(line), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// take takes one message of the process.
func (p *peer) take(line []byte) {
	var f frame
	if line[0] != '{' || json.Unmarshal(line, &f) != nil || f.Method == "" && f.ID == nil {
		if !p.greeted.Load() { // a program that does not speak the protocol need not be waited for
			p.close(fmt.Errorf("%w (%.200q)", errNoMessage, p.clean(string(line[:min(len(line), maxLog)]))))
			return
		}
		if p.bad++; p.bad <= maxBadLines {
			p.report("its output has a line that is not a message", line)
		}
		return
	}
	p.greeted.Store(true)
	refused := ""
	if jsonscan.Deeper(line, maxNesting) {
		refused = fmt.Sprintf("the message is nested deeper than %d levels", maxNesting)
		f.Params = nil
	}
	switch {
	case refused != "" && f.Method != "" && f.ID == nil:
		if p.bad++; p.bad <= maxBadLines {
			p.report(clip(f.Method, 100)+" is left out: "+refused, nil)
		}
	case f.Method == rpc.NoteCancel && f.ID == nil:
		var c rpc.Cancel
		if json.Unmarshal(f.Params, &c) == nil {
			p.mu.Lock()
			s := p.served[string(c.ID)]
			p.mu.Unlock()
			if s != nil {
				s.cancel()
			}
		}
	case f.Method != "" && f.ID == nil:
		p.note(f.Method, f.Params)
	case f.Method != "":
		p.request(f, refused)
	default:
		if refused != "" {
			f.Result, f.Error = nil, &RemoteError{Code: rpc.ErrRequest, Message: refused}
		}
		id, err := strconv.ParseInt(string(f.ID), 10, 64)
		p.mu.Lock()
		answer := p.calls[id]
		delete(p.calls, id)
		p.mu.Unlock()
		if err == nil && answer != nil { // else it was given up
			answer <- f
		}
	}
}

// request serves a request in a goroutine of its own, which ends with it.
// It is refused where that says why.
func (p *peer) request(f frame, refused string) {
	id := string(f.ID)
	ctx, cancel := context.WithCancel(p.ctx)
	s := &served{f.Method, cancel, make(chan struct{})}
	p.mu.Lock()
	switch {
	case p.err != nil:
		p.mu.Unlock()
		cancel()
		return
	case len(id) > maxCallID:
		f.ID, refused = json.RawMessage("null"), fmt.Sprintf("the id of a request has more than %d bytes", maxCallID)
	case refused != "":
	case p.served[id] != nil:
		refused = "the id " + id + " is in use"
	case len(p.served) >= maxServed:
		refused = fmt.Sprintf("more than %d requests at once", maxServed)
	case len(p.served) > 0 && p.params+len(f.Params) > p.maxParams:
		refused = fmt.Sprintf("the requests that are being carried out have more than %d MiB of parameters", p.maxParams>>20)
	default:
		p.served[id] = s
		p.params += len(f.Params)
	}
	p.mu.Unlock()
	if refused != "" {
		cancel()
		if line, err := encode(frame{ID: f.ID, Error: &RemoteError{Code: rpc.ErrRequest, Message: refused}}); err == nil {
			p.mustTell(line)
		}
		return
	}
	p.requests.Go(func() {
		defer cancel()
		var answer []byte
		func() {
			defer func() {
				p.mu.Lock()
				defer p.mu.Unlock()
				delete(p.served, id)
				p.params -= len(f.Params)
				close(s.done)
			}()
			p.careful(func() { answer = p.answer(ctx, f) })
		}()
		if answer != nil {
			_ = p.put(p.ctx, answer) // else nobody waits for it any more
		}
	})
}

// settled waits until the requests of a method that the process has made so far are
// carried out, or ctx ends.
func (p *peer) settled(ctx context.Context, methods ...string) {
	p.mu.Lock()
	var open []*served
	for _, s := range p.served {
		if slices.Contains(methods, s.method) {
			open = append(open, s)
		}
	}
	p.mu.Unlock()
	for _, s := range open {
		select {
		case <-s.done:
		case <-ctx.Done():
			return
		}
	}
}

// mustTell queues an answer from the reader, which may not wait: a process that asks
// more and more and reads nothing is given up.
func (p *peer) mustTell(line []byte) {
	p.mu.Lock()
	full := len(p.queue) >= 2*maxQueue
	if !full && p.err == nil {
		p.queue, p.queued = append(p.queue, line), p.queued+len(line)
		p.wake.Broadcast()
	}
	p.mu.Unlock()
	if full {
		p.close(errors.New("it asks without reading the answers"))
	}
}

// answer carries out a request and returns the line that answers it.
func (p *peer) answer(ctx context.Context, f frame) []byte {
	result, err := p.serve(ctx, f.Method, f.Params)
	out := frame{ID: f.ID}
	if err == nil {
		out.Result, err = json.Marshal(result)
	}
	if err != nil {
		out.Result, out.Error = nil, errorOf(ctx, err)
	}
	line, err := encode(out)
	if err != nil {
		line, _ = encode(frame{ID: f.ID, Error: &RemoteError{Code: rpc.ErrFailed, Message: err.Error()}})
	}
	return line
}

func errorOf(ctx context.Context, err error) *RemoteError {
	var e *RemoteError
	switch {
	case errors.As(err, &e):
		return e
	case ctx.Err() != nil:
		return &RemoteError{Code: errCancelled, Message: "cancelled"}
	}
	return &RemoteError{Code: rpc.ErrFailed, Message: err.Error()}
}
