package client

import (
	"context"
	"sync"

	"scorel/protocol"
)

// frameBuffer is how many frames of one subscription may wait; then the
// connection waits for its reader, and the host with its cursor.
const frameBuffer = 16

// Session is a subscription to one session.
type Session struct {
	// Opened is what the host said when the session was opened.
	Opened protocol.SessionOpened
	// Live is the state as of the newest update that Next gave.
	Live protocol.Live

	c      *Client
	id     protocol.SessionID
	frames chan protocol.Frame
	begun  bool // a resync frame has come: what came before belongs to an earlier subscription
	once   sync.Once
	closed chan struct{} // closed by Close
	ended  chan struct{} // closed when the connection is gone
}

// Update is what [Session.Next] gives: events in the order of seq, or (with
// Fresh set) the state that replaces all that was running before.
type Update struct {
	Events []protocol.Event
	Fresh  bool
}

// Open subscribes to a session; tail is how many of the newest events of its
// path come first. A session can be open once a client.
func (c *Client) Open(ctx context.Context, id protocol.SessionID, tail int) (*Session, error) {
	s := &Session{c: c, id: id, frames: make(chan protocol.Frame, frameBuffer), closed: make(chan struct{}), ended: make(chan struct{})}
	c.mu.Lock()
	switch {
	case c.sessions == nil:
		c.mu.Unlock()
		return nil, c.err
	case c.sessions[id] != nil:
		c.mu.Unlock()
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The session %s is already open on this connection.", id)
	}
	c.sessions[id] = s
	c.mu.Unlock()
	opened, err := Call[*protocol.SessionOpened](ctx, c, id, &protocol.OpenSession{Tail: tail})
	if err != nil {
		c.forget(s)
		return nil, err
	}
	s.Opened = *opened
	return s, nil
}

func (c *Client) forget(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[s.id] == s {
		delete(c.sessions, s.id)
	}
}

// Next waits for the next update. It returns [ErrClosed] when the subscription was
// closed or the connection is gone, and the host's error when the host has closed
// the session.
func (s *Session) Next(ctx context.Context) (Update, error) {
	for {
		frame, err := s.next(ctx)
		if err != nil {
			return Update{}, err
		}
		if _, ok := frame.(*protocol.ResyncFrame); ok {
			s.begun = true
			continue
		}
		if s.begun {
			return s.take(frame)
		}
	}
}

// next waits for the next frame.
func (s *Session) next(ctx context.Context) (protocol.Frame, error) {
	var frame protocol.Frame
	select {
	case frame = <-s.frames:
	default:
		select {
		case frame = <-s.frames:
		case <-s.ended:
			select {
			case frame = <-s.frames:
			default:
				return nil, ErrClosed
			}
		case <-s.closed:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return frame, nil
}

// take applies a frame.
func (s *Session) take(frame protocol.Frame) (Update, error) {
	switch f := frame.(type) {
	case *protocol.EventsFrame:
		for _, e := range f.Events {
			s.Live.Apply(e)
		}
		return Update{Events: f.Events}, nil
	case *protocol.LiveFrame:
		s.Live = f.Live
		return Update{Fresh: true}, nil
	case *protocol.SessionClosed:
		if f.Err != nil {
			return Update{}, f.Err
		}
	}
	return Update{}, ErrClosed
}

// Close ends the subscription.
func (s *Session) Close(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		close(s.closed)
		_, err = Call[*protocol.Done](ctx, s.c, s.id, &protocol.CloseSession{})
		s.c.forget(s)
	})
	return err
}
