package host

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"scorel/internal/host/lane"
	"scorel/internal/host/publish"
	"scorel/protocol"
)

// maxSubscriptions bounds the sessions that one connection has open.
const maxSubscriptions = 64

// Bounds of the events of one frame; it always takes one.
const (
	frameBatch = 256
	frameBytes = 64 << 10
)

// Conn is a connection of one client. Its methods may be called concurrently;
// frames come to one receiver at a time.
type Conn struct {
	h           *Host
	client      protocol.ClientID
	name        string
	interactive bool
	ctx         context.Context // ends with the connection
	stop        context.CancelFunc
	frames      chan protocol.Frame
	wg          sync.WaitGroup // the pumps of the subscriptions

	mu      sync.Mutex // guards what follows
	grant   protocol.Grant
	news    bool // a projects_changed frame is on its way
	subs    map[protocol.SessionID]*subscription
	uploads map[string]*upload
	blobs   map[string]bool // payloads that this client may read without naming a session
}

// subscription is one open session of a connection.
type subscription struct {
	slot   *slot
	stop   context.CancelFunc
	done   chan struct{}
	detach func()
}

// Connect lets a client in that has proved who it is, with the grant it has.
func (h *Host) Connect(_ context.Context, hello protocol.Hello, grant protocol.Grant) (*Conn, error) {
	switch {
	case hello.ProtocolVersion != protocol.Version:
		return nil, protocol.Errorf(protocol.CodeUnsupportedProtocol, "The client speaks protocol %d and the host %d; use the same version of Scorel for both.", hello.ProtocolVersion, protocol.Version)
	case hello.ClientID == protocol.HostClient || hello.ClientID.Check() != nil:
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The client id %q is not valid.", hello.ClientID)
	}
	if err := grant.Check(); err != nil {
		return nil, protocol.Errorf(protocol.CodeForbidden, "%s.", sentence(err))
	}
	c := &Conn{h: h, client: hello.ClientID, name: hello.ClientName, interactive: hello.Interactive, grant: grant, frames: make(chan protocol.Frame),
		subs: map[protocol.SessionID]*subscription{}}
	c.ctx, c.stop = context.WithCancel(context.Background())
	if len(hello.PublicKey) > 0 {
		_ = h.entries.Seen(c.client) // for people only: who cannot write it may still come in
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, protocol.Errorf(protocol.CodeInternalError, "The host is closing.")
	}
	h.conns[c] = struct{}{}
	return c, nil
}

// Call handles one request. It fails only when the connection is closed; a
// request that fails is a reply with an error.
func (c *Conn) Call(ctx context.Context, call protocol.Call) (protocol.Reply, error) {
	if c.ctx.Err() != nil {
		return protocol.Reply{}, io.ErrClosedPipe
	}
	if !c.h.cfg.Codec {
		return c.handle(ctx, call), nil
	}
	data, err := json.Marshal(call)
	if err != nil {
		return protocol.Reply{}, err
	}
	parsed, err := protocol.ParseCall(data)
	if err != nil {
		return protocol.Reply{RequestID: call.RequestID, Err: protocol.AsError(err)}, nil
	}
	if data, err = json.Marshal(c.handle(ctx, parsed)); err != nil {
		return protocol.Reply{}, err
	}
	return protocol.ParseReply(data, call.Request.RequestName())
}

func (c *Conn) handle(ctx context.Context, call protocol.Call) protocol.Reply {
	if err := c.allowed(call.Request); err != nil {
		return protocol.Reply{RequestID: call.RequestID, Err: err}
	}
	if !protocol.Acts(call.Request) {
		return c.answer(ctx, call, c.dispatch)
	}
	return c.h.once.carryOut(ctx, c.client, call, func() protocol.Reply {
		return c.answer(ctx, call, func(ctx context.Context, call protocol.Call) (protocol.Response, error) {
			if call.Repeat {
				if data, was, err := c.h.repeated(ctx, c.client, call); was || err != nil {
					return data, err
				}
			}
			return c.dispatch(ctx, call)
		})
	})
}

// allowed says why the client may not make a request, if so.
func (c *Conn) allowed(r protocol.Request) *protocol.Error {
	c.mu.Lock()
	grant := c.grant
	c.mu.Unlock()
	if needed := protocol.Needs(r); !grant.Allows(needed) {
		return protocol.Errorf(protocol.CodeForbidden, "This entry has the grant %s; %s needs %s. The owner of the device can widen it.", grant, r.RequestName(), needed)
	}
	return nil
}

// answer makes the reply to a request.
func (c *Conn) answer(ctx context.Context, call protocol.Call, do func(context.Context, protocol.Call) (protocol.Response, error)) protocol.Reply {
	data, err := do(ctx, call)
	if err != nil {
		return protocol.Reply{RequestID: call.RequestID, Err: requestError(err)}
	}
	return protocol.Reply{RequestID: call.RequestID, Data: data}
}

// Frames gives the frames for the client, for one receiver, which takes them in their
// order; when Done is closed, none follows.
func (c *Conn) Frames() <-chan protocol.Frame { return c.frames }

// Done is closed when the connection has ended, by whichever side.
func (c *Conn) Done() <-chan struct{} { return c.ctx.Done() }

// Recv waits for the next frame; [io.EOF] is the end of the connection.
func (c *Conn) Recv(ctx context.Context) (protocol.Frame, error) {
	select {
	case f := <-c.frames:
		if !c.h.cfg.Codec {
			return f, nil
		}
		data, err := protocol.MarshalFrame(f)
		if err != nil {
			return nil, err
		}
		return protocol.ParseFrame(data)
	case <-c.ctx.Done():
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends the connection and its subscriptions.
func (c *Conn) Close() error {
	c.stop()
	c.mu.Lock()
	subs := c.subs
	c.subs = nil // no subscription is added any more
	for id := range c.uploads {
		c.dropUpload(id)
	}
	c.mu.Unlock()
	c.wg.Wait()
	for _, s := range subs {
		s.detach()
		c.h.release(s.slot)
	}
	c.h.mu.Lock()
	delete(c.h.conns, c)
	c.h.mu.Unlock()
	return nil
}

// caller names the client and request for the lane.
func (c *Conn) caller(call protocol.Call) lane.Caller {
	return lane.Caller{Client: c.client, Request: call.RequestID}
}

func (c *Conn) openSession(ctx context.Context, id protocol.SessionID, r *protocol.OpenSession) (*protocol.SessionOpened, error) {
	s, err := c.h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	pumpCtx, stop := context.WithCancel(c.ctx)
	sub := &subscription{slot: s, stop: stop, done: make(chan struct{}), detach: s.lane.Attach(c.interactive)}
	c.mu.Lock()
	switch {
	case c.subs == nil:
		err = io.ErrClosedPipe
	case c.subs[id] != nil:
		err = protocol.Errorf(protocol.CodeInvalidRequest, "The session %s is already open on this connection.", id)
	case len(c.subs) >= maxSubscriptions:
		err = protocol.Errorf(protocol.CodeRateLimited, "A connection can have %d sessions open; close one.", maxSubscriptions)
	default:
		c.subs[id] = sub
		c.wg.Add(1)
	}
	c.mu.Unlock()
	if err != nil {
		stop()
		sub.detach()
		c.h.release(s)
		return nil, err
	}
	go func() { // ends with the subscription or the connection
		defer c.wg.Done()
		defer close(sub.done)
		c.pump(pumpCtx, s.lane, max(0, min(r.Tail, 2000)))
	}()
	index := s.lane.Log().Index()
	return &protocol.SessionOpened{Summary: summaryOf(index), Findings: s.report.Sentences(), ReadOnly: s.report.ReadOnly}, nil
}

func (c *Conn) closeSession(id protocol.SessionID) error {
	c.mu.Lock()
	s := c.subs[id]
	delete(c.subs, id)
	c.mu.Unlock()
	if s == nil {
		return protocol.Errorf(protocol.CodeInvalidRequest, "The session %s is not open on this connection.", id)
	}
	s.stop()
	<-s.done
	s.detach()
	c.h.release(s.slot)
	return nil
}

// pump sends a subscription: the newest events of the path, the live state, and
// then everything as it comes. When the publisher's ring has passed it, it reads
// on from the log and takes the live state again; when a new epoch has begun, it
// takes the state at its beginning.
func (c *Conn) pump(ctx context.Context, l *lane.Lane, tail int) {
	cursor, live := l.Publisher().Cursor()
	if c.send(ctx, &protocol.ResyncFrame{SessionID: l.ID(), Mode: protocol.FullReload}) != nil {
		return
	}
	err := c.sendTail(ctx, l, live, tail)
	for err == nil {
		if err = c.send(ctx, &protocol.LiveFrame{SessionID: l.ID(), Live: live}); err != nil {
			return
		}
		sent := live.PersistentLastSeq
		for err == nil {
			var events []protocol.Event
			if events, err = cursor.Next(ctx); err == nil {
				sent, err = c.sendEvents(ctx, l, events, sent)
			}
		}
		switch err {
		case publish.ErrGap:
			cursor, live = l.Publisher().Cursor()
			if err = c.send(ctx, &protocol.ResyncFrame{SessionID: l.ID(), Mode: protocol.PersistentFallback}); err == nil {
				err = c.sendRange(ctx, l, sent, live.PersistentLastSeq)
			}
		case publish.ErrEpoch:
			live = cursor.Restart()
			err = c.send(ctx, &protocol.ResyncFrame{SessionID: l.ID(), Mode: protocol.PersistentFallback})
		}
	}
	if ctx.Err() == nil {
		var pe *protocol.Error
		if err != publish.ErrClosed {
			pe = requestError(err)
		}
		_ = c.send(ctx, &protocol.SessionClosed{SessionID: l.ID(), Err: pe}) // the end of the connection is the same news
	}
}

// sendEvents sends events in frames, with the large ones read from the log, and
// gives the seq of the last persistent one that was sent; sent is that before.
func (c *Conn) sendEvents(ctx context.Context, l *lane.Lane, events []protocol.Event, sent protocol.Seq) (protocol.Seq, error) {
	for len(events) > 0 {
		n, bytes := 0, 0
		for n < len(events) && n < frameBatch && (n == 0 || bytes < frameBytes) {
			if e := &events[n]; e.Body == nil {
				whole, err := l.Log().Index().Event(ctx, e.ID)
				if err != nil {
					return sent, err
				}
				*e = whole
			}
			bytes += publish.Size(events[n])
			n++
		}
		if err := c.send(ctx, &protocol.EventsFrame{SessionID: l.ID(), Events: events[:n:n]}); err != nil {
			return sent, err
		}
		for _, e := range events[:n] {
			if !e.IsTransient() {
				sent = e.Seq
			}
		}
		events = events[n:]
	}
	return sent, nil
}

// sendTail sends the newest events of the path as of live.
func (c *Conn) sendTail(ctx context.Context, l *lane.Lane, live protocol.Live, tail int) error {
	if tail == 0 {
		return nil
	}
	var events []protocol.Event
	for e, err := range l.Log().Index().Back(ctx, live.LeafID) {
		if err != nil {
			return err
		}
		events = append(events, e)
		if len(events) == tail {
			break
		}
	}
	for i, k := 0, len(events)-1; i < k; i, k = i+1, k-1 {
		events[i], events[k] = events[k], events[i]
	}
	_, err := c.sendEvents(ctx, l, events, 0)
	return err
}

// sendRange sends the persistent events behind from, to through and no further.
func (c *Conn) sendRange(ctx context.Context, l *lane.Lane, from, through protocol.Seq) error {
	var events []protocol.Event
	bytes := 0
	for line, err := range l.Log().Index().After(ctx, from) {
		if err != nil {
			return err
		}
		if line.Seq > through {
			break
		}
		e, err := protocol.ParseEvent(line.Bytes)
		if err != nil {
			continue // damaged inside; the report of the session says so
		}
		events = append(events, e)
		if bytes += len(line.Bytes); bytes >= frameBytes || len(events) == frameBatch {
			if _, err := c.sendEvents(ctx, l, events, 0); err != nil {
				return err
			}
			events, bytes = nil, 0
		}
	}
	_, err := c.sendEvents(ctx, l, events, 0)
	return err
}

func (c *Conn) send(ctx context.Context, f protocol.Frame) error {
	select {
	case c.frames <- f:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
