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

// Transport carries messages between one entry and one host.
type Transport interface {
	// Call sends a call and waits for its reply. It fails only when the transport
	// does; a failed request is a reply.
	Call(ctx context.Context, call protocol.Call) (protocol.Reply, error)
	// Recv waits for the next frame. It returns [io.EOF] when the host has closed
	// the connection.
	Recv(ctx context.Context) (protocol.Frame, error)
	Close() error
}

// ErrClosed says that the client, or the subscription, has been closed.
var ErrClosed = errors.New("the connection to the host is closed")

// Client is one connection of an entry to a host.
type Client struct {
	transport Transport
	stop      context.CancelFunc
	done      chan struct{} // closed when the reader has ended

	mu       sync.Mutex // guards sessions and err
	sessions map[protocol.SessionID]*Session
	err      error // why the reader ended
}

// New makes a client over a transport that is already connected. It starts a
// reader, which Close ends.
func New(t Transport) *Client {
	ctx, stop := context.WithCancel(context.Background())
	c := &Client{transport: t, stop: stop, done: make(chan struct{}), sessions: map[protocol.SessionID]*Session{}}
	go c.read(ctx)
	return c
}

// Close ends the connection and all subscriptions.
func (c *Client) Close() error {
	c.stop()
	err := c.transport.Close()
	<-c.done
	return err
}

// Call sends a request about a session (or about none) and gives its typed
// answer. The error of a failed request is a *protocol.Error.
func Call[R protocol.Response](ctx context.Context, c *Client, session protocol.SessionID, req protocol.Request) (R, error) {
	var none R
	call := protocol.Call{RequestID: protocol.NewRequestID(rand.Reader), SessionID: session, Request: req}
	reply, err := c.transport.Call(ctx, call)
	switch {
	case err != nil:
		return none, err
	case reply.Err != nil:
		return none, reply.Err
	}
	data, ok := reply.Data.(R)
	if !ok {
		return none, fmt.Errorf("client: the host answered %s with %T", req.RequestName(), reply.Data)
	}
	return data, nil
}

// read hands frames to their subscriptions until the transport ends.
func (c *Client) read(ctx context.Context) {
	defer close(c.done)
	for {
		frame, err := c.transport.Recv(ctx)
		if err != nil {
			c.end(err)
			return
		}
		var id protocol.SessionID
		switch f := frame.(type) {
		case *protocol.ResyncFrame:
			id = f.SessionID
		case *protocol.EventsFrame:
			id = f.SessionID
		case *protocol.LiveFrame:
			id = f.SessionID
		case *protocol.SessionClosed:
			id = f.SessionID
		}
		c.mu.Lock()
		s := c.sessions[id]
		c.mu.Unlock()
		if s == nil {
			continue
		}
		select {
		case s.frames <- frame:
		case <-s.closed:
		case <-ctx.Done():
			c.end(ErrClosed)
			return
		}
	}
}

func (c *Client) end(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		err = ErrClosed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	for _, s := range c.sessions {
		close(s.ended)
	}
	c.sessions = nil
}
