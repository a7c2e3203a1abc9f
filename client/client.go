package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"

	"scorel/protocol"
)

// Transport is one connection between an entry and a host. Its methods may be
// called concurrently.
type Transport interface {
	// Call sends a call and waits for its reply. It fails only when the connection
	// does, with [ErrNotSent] when nothing of the call has left; a failed request is
	// a reply.
	Call(ctx context.Context, call protocol.Call) (protocol.Reply, error)
	// Recv waits for the next frame. It returns [io.EOF] when the host has closed
	// the connection.
	Recv(ctx context.Context) (protocol.Frame, error)
	// Close ends the connection. It may be called more than once.
	Close() error
}

// CodeTransportClosed is the code of [ErrClosed].
const CodeTransportClosed protocol.Code = "transport_closed"

// ErrClosed reports that the client, or the subscription, has been closed.
var ErrClosed error = &protocol.Error{Code: CodeTransportClosed, Message: "the connection to the host is closed"}

// maxWaiting bounds the requests that wait for a connection.
const maxWaiting = 256

// maxBroken bounds the connections that break while one request is on its way: it
// may be what breaks them.
const maxBroken = 8

// Config is what a [Client] needs.
type Config struct {
	// Dial connects. The client calls it again when the connection is gone, for ever
	// until it is closed or Dial fails with a [PermanentError].
	Dial func(ctx context.Context) (Transport, protocol.Connected, error)
	// OnState, when set, is told of every change of the state, in order. It must not
	// wait for the client or close it.
	OnState func(Change)
	// Rand draws request ids and waits; nil is crypto/rand. It must be safe for
	// concurrent use.
	Rand io.Reader
}

// Client is an entry's side of a host, over one connection after the other.
type Client struct {
	cfg    Config
	single bool // there is one connection and no other
	ctx    context.Context
	stop   context.CancelFunc
	done   chan struct{}  // closed when the client has ended
	wg     sync.WaitGroup // what works for subscriptions; ends with ctx
	retry  chan struct{}  // holds a value when the wait before the next try is to end

	mu            sync.Mutex // guards what follows; nothing is waited for under it
	link          *link      // nil while there is no connection
	changed       chan struct{}
	waiting       int
	sessions      map[protocol.SessionID]*Session
	notifications deviceNotifications
	err           error // why the client has ended
}

// New makes a client over a transport that is already connected, and ends with
// it. It starts a reader, which Close ends.
func New(t Transport) *Client {
	c := newClient(Config{})
	c.single = true
	l := c.attach(t, protocol.Connected{})
	go func() { // ends with the transport
		defer close(c.done)
		_ = c.receive(l)
		c.detach(l)
		c.end(ErrClosed)
		c.stop()
		c.wg.Wait()
	}()
	return c
}

// Connect makes a client that keeps itself connected. It returns at once; requests
// wait for the connection. Close ends it.
func Connect(cfg Config) *Client {
	c := newClient(cfg)
	go c.run()
	return c
}

func newClient(cfg Config) *Client {
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	c := &Client{cfg: cfg, done: make(chan struct{}), changed: make(chan struct{}), retry: make(chan struct{}, 1), sessions: map[protocol.SessionID]*Session{}}
	c.notifications.init()
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// Close ends the connection and all subscriptions. What is called afterwards fails
// with [ErrClosed], as does what waits; a request that was on its way may have
// been carried out.
func (c *Client) Close() error {
	c.stop()
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	var err error
	if l != nil {
		err = l.close()
	}
	<-c.done
	return err
}

// Call sends a request about a session (or about none) and returns its typed
// answer. The error of a failed request is a *protocol.Error. Without a connection
// it waits for the next one; a request whose connection broke is sent again, marked
// as a repeat when it acts, so that it acts once.
func Call[R protocol.Response](ctx context.Context, c *Client, session protocol.SessionID, req protocol.Request) (R, error) {
	call := protocol.Call{RequestID: protocol.NewRequestID(c.cfg.Rand), SessionID: session, Request: req}
	reply, err := c.call(ctx, call)
	if err != nil {
		var none R
		return none, err
	}
	return answer[R](call, reply)
}

// answer returns the typed answer of a reply.
func answer[R protocol.Response](call protocol.Call, reply protocol.Reply) (R, error) {
	var none R
	if reply.Err != nil {
		return none, reply.Err
	}
	data, ok := reply.Data.(R)
	if !ok {
		return none, fmt.Errorf("client: the host answered %s with %T", call.Request.Spec().Name, reply.Data)
	}
	return data, nil
}

// call sends a call until it has a reply.
func (c *Client) call(ctx context.Context, call protocol.Call) (protocol.Reply, error) {
	var lost *link
	for broken := 1; ; broken++ {
		l, err := c.await(ctx, lost)
		if err != nil {
			return protocol.Reply{}, err
		}
		reply, err := c.callOn(ctx, l, call)
		switch {
		case err == nil || c.single || ctx.Err() != nil:
			return reply, err
		case broken == maxBroken:
			return reply, fmt.Errorf("the connection broke %d times while the host answered %s: %w", broken, call.Request.Spec().Name, err)
		case errors.Is(err, ErrNotSent):
		case call.Request.Spec().Mutates:
			call.Repeat = true
		case partial(call.Request):
			return reply, fmt.Errorf("%w: %w", ErrUploadLost, err)
		}
		lost = l
	}
}

// callOn sends a call on one connection, once. Its failure is the end of that
// connection, or of ctx.
func (c *Client) callOn(ctx context.Context, l *link, call protocol.Call) (protocol.Reply, error) {
	reply, err := l.Call(ctx, call)
	switch {
	case err == nil:
		l.used.Store(true)
	case ctx.Err() != nil:
		err = ctx.Err()
	case c.ctx.Err() != nil:
		err = ErrClosed
	case !c.single:
		_ = l.close() // so that all notice
	}
	return reply, err
}

// await waits for a connection other than lost.
func (c *Client) await(ctx context.Context, lost *link) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for counted := false; ; {
		switch {
		case c.err != nil:
			return nil, c.err
		case c.ctx.Err() != nil:
			return nil, ErrClosed
		case c.link != nil && c.link != lost:
			return c.link, nil
		case !counted && c.waiting >= maxWaiting:
			return nil, protocol.Errorf(protocol.CodeRateLimited, "There is no connection to the host, and %d requests wait for it already. Try again when it is back.", maxWaiting)
		}
		if !counted {
			counted = true
			c.waiting++
			defer func() { c.waiting-- }()
		}
		changed := c.changed
		c.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-ctx.Done():
			err = ctx.Err()
		case <-c.ctx.Done():
		}
		c.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
}

// Connected waits until the client is connected and returns what the host said. Of a
// client made by [New] it knows nothing.
func (c *Client) Connected(ctx context.Context) (protocol.Connected, error) {
	l, err := c.await(ctx, nil)
	if err != nil {
		return protocol.Connected{}, err
	}
	return l.connected, nil
}
