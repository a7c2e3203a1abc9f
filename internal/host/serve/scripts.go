package serve

import (
	"context"
	"sync"
	"time"

	"scorel/internal/host"
	"scorel/protocol"
)

// scriptsIdle is how long the connection of HTTP requests stays without one.
const scriptsIdle = 10 * time.Second

// scripts is the connection to the host that HTTP requests share: a script that
// asks every second does not come and go for all other clients each time.
type scripts struct {
	s *Server

	mu     sync.Mutex // guards what follows
	conn   *host.Conn
	users  int
	idle   *time.Timer // closes conn; not nil while users is 0 and conn is not nil
	drains sync.WaitGroup
	closed bool
}

// scriptsID is the client that HTTP requests come from: one for each device, so that
// a request that is sent again after a restart meets what came of the first.
func (s *Server) scriptsID() protocol.ClientID {
	device, _ := s.cfg.Host.Device()
	return protocol.ClientIDOf([]byte("http requests to " + string(device)))
}

// own returns a connection for one request alone; the caller closes it. An interactive one
// is of somebody who can answer what people are asked.
func (s *Server) own(ctx context.Context, name string, interactive bool) (*host.Conn, error) {
	return s.cfg.Host.Connect(ctx, protocol.Hello{ProtocolVersion: protocol.Version, ClientID: s.scriptsID(), ClientName: name, Interactive: interactive}, protocol.GrantControl)
}

// get gives the shared connection; put gives it back.
func (c *scripts) get(ctx context.Context) (*host.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errStopping()
	}
	if c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	if c.conn != nil && over(c.conn) {
		_ = c.conn.Close() // the host has ended it
		c.conn = nil
	}
	if c.conn == nil {
		conn, err := c.s.own(ctx, "HTTP", false)
		if err != nil {
			return nil, err
		}
		c.conn = conn
		c.drains.Go(func() { drainFrames(conn) }) // ends with the connection
	}
	c.users++
	return c.conn, nil
}

func (c *scripts) put() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users > 0 || c.conn == nil {
		return
	}
	if c.closed {
		c.end()
		return
	}
	var t *time.Timer
	t = time.AfterFunc(scriptsIdle, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.idle == t { // nobody has come since
			c.end()
		}
	})
	c.idle = t
}

// end closes the connection. mu is held: closing it waits for nothing but its own
// goroutines.
func (c *scripts) end() {
	if c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// close closes the connection for good.
func (c *scripts) close() {
	c.mu.Lock()
	c.closed = true
	if c.users == 0 {
		c.end()
	}
	c.mu.Unlock()
	c.drains.Wait()
}

func over(c *host.Conn) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// drainFrames takes what the host tells all clients: requests have no use for it.
func drainFrames(c *host.Conn) {
	for {
		select {
		case <-c.Frames():
		case <-c.Done():
			return
		}
	}
}
