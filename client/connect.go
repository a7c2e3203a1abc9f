package client

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"scorel/protocol"
)

// sendTimeout is how long the connection waits for the reader of a subscription whose
// buffer is full. Then the subscription is given up and, when its reader comes
// back, opened again from where that stands: replies and other sessions come over
// the same wire, and the host takes a connection that nobody reads as gone.
const sendTimeout = 2 * time.Second

// link is one connection.
type link struct {
	Transport
	connected protocol.Connected
	used      atomic.Bool // something came over it after the handshake
	stopping  atomic.Bool // the host has said that it ends
	fastRetry atomic.Bool // and that another takes over at once
	closing   atomic.Bool
	closed    chan struct{} // closed when the transport is, with err
	err       error
}

// close closes the transport, once; everybody waits for that.
func (l *link) close() error {
	if l.closing.CompareAndSwap(false, true) {
		l.err = l.Transport.Close()
		close(l.closed)
	}
	<-l.closed
	return l.err
}

// run keeps the client connected until it is closed or the host is not to be had.
func (c *Client) run() {
	defer close(c.done)
	defer c.wg.Wait()
	defer c.stop()
	waitIn, failed, fastRetry := StateConnecting, 0, 0
	c.notify(Change{State: StateConnecting})
	for {
		t, connected, err := c.cfg.Dial(c.ctx)
		if err == nil {
			l := c.attach(t, connected)
			c.notify(Change{State: StateConnected, Connected: connected})
			err = c.receive(l)
			c.detach(l)
			waitIn = StateReconnecting
			if l.used.Load() {
				failed = 0
			}
			if fastRetry = 0; l.fastRetry.Load() {
				fastRetry = fastRetries
			}
		}
		if c.ctx.Err() != nil {
			err = ErrClosed
		}
		if err == ErrClosed || errors.As(err, new(*PermanentError)) {
			c.end(err)
			if err == ErrClosed {
				err = nil
			}
			c.notify(Change{State: StateDisconnected, Err: err})
			return
		}
		wait := jitter(c.cfg.Rand, window(failed))
		if fastRetry > 0 {
			fastRetry, wait = fastRetry-1, jitter(c.cfg.Rand, firstWait)
		} else {
			failed++
		}
		c.notify(Change{State: waitIn, Err: err, RetryIn: wait})
		select { // an earlier one is over
		case <-c.retry:
		default:
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-c.retry:
			failed = 0
		case <-c.ctx.Done():
		}
		timer.Stop()
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Retry has a client that waits before it connects again try at once, because somebody
// waits for it. In other states it does nothing.
func (c *Client) Retry() {
	select {
	case c.retry <- struct{}{}:
	default:
	}
}

func (c *Client) notify(change Change) {
	if c.cfg.OnState != nil {
		c.cfg.OnState(change)
	}
}

// attach makes a connection the one that is used.
func (c *Client) attach(t Transport, connected protocol.Connected) *link {
	l := &link{Transport: t, connected: connected, closed: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = l
	c.notifications.connected()
	c.wake()
	return l
}

// detach closes a connection and ends the subscriptions over it.
func (c *Client) detach(l *link) {
	c.mu.Lock()
	c.link = nil
	for _, s := range c.sessions {
		if s.current != nil && s.current.link == l {
			s.current.end()
		}
	}
	c.wake()
	c.mu.Unlock()
	_ = l.close() // it is over
}

// end ends the client for a reason.
func (c *Client) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
	c.notifications.wake()
	c.wake()
}

// wake lets everybody look at the state again. mu is held.
func (c *Client) wake() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// receive hands on frames until the connection ends.
func (c *Client) receive(l *link) error {
	for {
		frame, err := l.Recv(c.ctx)
		switch {
		case c.ctx.Err() != nil:
			return ErrClosed
		case errors.Is(err, io.EOF):
			return errors.New("the host has closed the connection")
		case err != nil:
			return err
		}
		l.used.Store(true)
		if f, ok := frame.(*protocol.HostStopping); ok {
			l.stopping.Store(true)
			l.fastRetry.Store(f.Restarting)
		}
		id, ok := sessionOf(frame)
		c.mu.Lock()
		var f *feed
		if !ok {
			c.notifications.take(frame)
		} else if s := c.sessions[id]; s != nil && s.current != nil && s.current.link == l && !s.current.givenUp {
			f = s.current
		}
		c.mu.Unlock()
		if f != nil {
			c.feed(f, frame)
		}
	}
}

// sessionOf returns the session of a frame that belongs to one.
func sessionOf(frame protocol.Frame) (protocol.SessionID, bool) {
	switch f := frame.(type) {
	case *protocol.ResyncFrame:
		return f.SessionID, true
	case *protocol.EventsFrame:
		return f.SessionID, true
	case *protocol.LiveFrame:
		return f.SessionID, true
	case *protocol.SessionClosed:
		return f.SessionID, true
	}
	return "", false
}

// feed hands a frame to its subscription. A full one is waited for; one that
// nobody reads is given up, where that can be made good.
func (c *Client) feed(f *feed, frame protocol.Frame) {
	select {
	case f.frames <- frame:
		return
	default:
	}
	var late <-chan time.Time
	if !c.single {
		t := time.NewTimer(sendTimeout)
		defer t.Stop()
		late = t.C
	}
	select {
	case f.frames <- frame:
	case <-f.session.ctx.Done():
	case <-f.over:
	case <-c.ctx.Done():
	case <-late:
		c.giveUp(f)
	}
}

// giveUp ends a subscription from this side: nothing of it is taken any more, and
// it is over when the host has closed it.
func (c *Client) giveUp(f *feed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.givenUp || c.err != nil {
		return
	}
	f.givenUp = true
	c.wg.Go(func() { // ends with the answer, the connection or the client
		_ = c.closeOn(c.ctx, f) // it is closed, or the connection gone
		f.end()
	})
}

// closeOn closes a subscription at the host. When that fails, the host has closed
// it or the connection is gone.
func (c *Client) closeOn(ctx context.Context, f *feed) error {
	call := protocol.Call{RequestID: protocol.NewRequestID(c.cfg.Rand), SessionID: f.session.id, Request: &protocol.CloseSession{}}
	reply, err := c.callOn(ctx, f.link, call)
	if err == nil && reply.Err != nil {
		err = reply.Err
	}
	return err
}
