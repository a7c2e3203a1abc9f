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

// frameBatch bounds the events of one frame.
const frameBatch = 256

// Conn is a connection of one client. Its methods may be called concurrently;
// frames come to one receiver at a time.
type Conn struct {
	h           *Host
	client      protocol.ClientID
	interactive bool
	ctx         context.Context // ends with the connection
	stop        context.CancelFunc
	frames      chan protocol.Frame
	wg          sync.WaitGroup // the pumps of the subscriptions

	mu      sync.Mutex // guards subs and uploads
	subs    map[protocol.SessionID]*subscription
	uploads map[string]*upload
}

// subscription is one open session of a connection.
type subscription struct {
	slot *slot
	stop context.CancelFunc
	done chan struct{}
}

// Connect lets a client in.
func (h *Host) Connect(_ context.Context, hello protocol.Hello) (*Conn, error) {
	switch {
	case hello.ProtocolVersion != protocol.Version:
		return nil, protocol.Errorf(protocol.CodeUnsupportedProtocol, "The client speaks protocol %d and the host %d; use the same version of Scorel for both.", hello.ProtocolVersion, protocol.Version)
	case hello.ClientID == protocol.HostClient || hello.ClientID.Check() != nil:
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The client id %q is not valid.", hello.ClientID)
	}
	c := &Conn{h: h, client: hello.ClientID, interactive: hello.Interactive, frames: make(chan protocol.Frame),
		subs: map[protocol.SessionID]*subscription{}}
	c.ctx, c.stop = context.WithCancel(context.Background())
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
	data, err := c.dispatch(ctx, call)
	if err != nil {
		return protocol.Reply{RequestID: call.RequestID, Err: requestError(err)}
	}
	return protocol.Reply{RequestID: call.RequestID, Data: data}
}

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
	c.wg.Wait()
	c.mu.Lock()
	subs := c.subs
	c.subs = nil
	for id := range c.uploads {
		c.dropUpload(id)
	}
	c.mu.Unlock()
	for _, s := range subs {
		s.slot.lane.Detach(c.client)
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
	sub := &subscription{slot: s, stop: stop, done: make(chan struct{})}
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
		c.h.release(s)
		return nil, err
	}
	s.lane.Attach(c.client, c.interactive)
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
	s.slot.lane.Detach(c.client)
	c.h.release(s.slot)
	return nil
}

// pump sends a subscription: the newest events of the path, the live state, and
// then everything as it comes. When the publisher's ring has passed it, it reads
// on from the log and takes the live state again.
func (c *Conn) pump(ctx context.Context, l *lane.Lane, tail int) {
	cursor, live := l.Publisher().Cursor()
	err := c.sendTail(ctx, l, live, tail)
	for err == nil {
		if err = c.send(ctx, &protocol.LiveFrame{SessionID: l.ID(), Live: live}); err != nil {
			return
		}
		sent := live.PersistentLastSeq
		var events []protocol.Event
		for {
			events, err = cursor.Next(ctx)
			if err != nil {
				break
			}
			for len(events) > 0 && err == nil {
				n := min(len(events), frameBatch)
				err = c.send(ctx, &protocol.EventsFrame{SessionID: l.ID(), Events: events[:n]})
				for _, e := range events[:n] {
					if !e.IsTransient() {
						sent = e.Seq
					}
				}
				events = events[n:]
			}
		}
		if err != publish.ErrGap {
			break
		}
		cursor, live = l.Publisher().Cursor()
		err = c.sendRange(ctx, l, sent, live.PersistentLastSeq)
	}
	if ctx.Err() == nil {
		var pe *protocol.Error
		if err != nil && err != publish.ErrClosed {
			pe = requestError(err)
		}
		_ = c.send(ctx, &protocol.SessionClosed{SessionID: l.ID(), Err: pe}) // the end of the connection is the same news
	}
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
	for len(events) > 0 {
		n := min(len(events), frameBatch)
		if err := c.send(ctx, &protocol.EventsFrame{SessionID: l.ID(), Events: events[:n]}); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// sendRange sends the persistent events behind from, to through and no further.
func (c *Conn) sendRange(ctx context.Context, l *lane.Lane, from, through protocol.Seq) error {
	var events []protocol.Event
	flush := func() error {
		if len(events) == 0 {
			return nil
		}
		f := &protocol.EventsFrame{SessionID: l.ID(), Events: events}
		events = nil
		return c.send(ctx, f)
	}
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
		if events = append(events, e); len(events) == frameBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (c *Conn) send(ctx context.Context, f protocol.Frame) error {
	select {
	case c.frames <- f:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
