package client

import (
	"context"
	"errors"
	"sync"

	"scorel/protocol"
)

// frameBuffer is how many frames of one subscription may wait; then the
// connection waits for its reader, and the host with its cursor.
const frameBuffer = 16

// maxReopens is how often a session is opened again that the host has locked
// elsewhere or closes at once, before its reader is told.
const maxReopens = 8

// Session is a subscription to one session. It goes on over reconnects.
type Session struct {
	// Opened is what the host said when the session was opened last.
	Opened protocol.SessionOpened
	// Live is the state as of the newest update that Next gave.
	Live protocol.Live

	c      *Client
	id     protocol.SessionID
	tail   int
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	once   sync.Once

	// Next's own.
	feed    *feed
	opening chan opened
	replay
	tries int   // openings in vain since the subscription last was complete
	err   error // why it has ended

	current *feed         // guarded by c.mu: where frames go
	opener  chan struct{} // guarded by c.mu: closed when the newest opening has ended
}

// feed is a subscription on one connection.
type feed struct {
	session *Session
	link    *link
	frames  chan protocol.Frame
	over    chan struct{} // closed when nothing follows
	once    sync.Once
	givenUp bool // guarded by Client.mu: the reader was too slow, or something is missing
}

func (f *feed) end() { f.once.Do(func() { close(f.over) }) }

// opened is what came of an opening.
type opened struct {
	feed *feed
	said *protocol.SessionOpened
	err  error
}

// Update is what [Session.Next] gives: events in the order of seq, each once, or
// (with Fresh set) the state that replaces all that was running before.
//
// Resync says that the subscription was begun again before this update: with
// [protocol.StreamResume] what the caller holds stays and nothing was missed, with
// [protocol.PersistentFallback] its running messages and tools are void, with
// [protocol.FullReload] all of it.
type Update struct {
	Resync protocol.Resync
	Events []protocol.Event
	Fresh  bool
	// Live is the state, of a Fresh update; else nil. It must not be changed: whoever
	// keeps it up to date on another goroutine folds updates into a state of their own,
	// with [Update.Fold].
	Live *protocol.Live
}

// Open subscribes to a session; tail is how many of the newest events of its path
// come first, and again when the host cannot go on from what the client has. A
// session can be open once a client.
func (c *Client) Open(ctx context.Context, id protocol.SessionID, tail int) (*Session, error) {
	s := &Session{c: c, id: id, tail: tail}
	s.ctx, s.cancel = context.WithCancel(c.ctx)
	c.mu.Lock()
	switch {
	case c.err != nil:
		defer c.mu.Unlock()
		s.cancel()
		return nil, c.err
	case c.sessions[id] != nil:
		c.mu.Unlock()
		s.cancel()
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The session %s is already open on this connection.", id)
	}
	c.sessions[id] = s
	c.mu.Unlock()
	err := s.open(ctx)
	switch {
	case err == nil:
		return s, nil
	case s.err == nil: // it was not the host that said no: the opening may still be on its way
		c.mu.Lock()
		if c.err == nil && c.ctx.Err() == nil {
			c.wg.Go(func() { _ = s.Close(c.ctx) }) // ends with the client
		}
		c.mu.Unlock()
	default:
		s.cancel()
		c.forget(s)
	}
	return nil, err
}

func (c *Client) forget(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[s.id] == s {
		delete(c.sessions, s.id)
	}
}

// Next waits for the next update, over reconnects. After [ErrClosed] (of a closed
// client or subscription), the host's error with which it closed or no longer opens
// the session, or a [PermanentError], none follows. When ctx ends, it may be called
// again.
func (s *Session) Next(ctx context.Context) (Update, error) {
	for s.err == nil {
		frame, err := s.next(ctx)
		if err != nil {
			return Update{}, err
		}
		if closed, ok := frame.(*protocol.SessionClosed); ok {
			if closed.Err != nil {
				s.err = closed.Err
			} else if s.c.single {
				s.err = ErrClosed
			} else { // the host ends, or has closed it to open it again
				s.ignoring = true
				s.tries++
				s.feed.end()
			}
			continue
		}
		u, ok, gap := s.take(frame)
		switch {
		case gap:
			// The host has not sent all that it has: only a whole reload helps.
			s.replay = replay{ignoring: true}
			s.tries++
			s.c.giveUp(s.feed)
		case ok:
			if u.Fresh {
				s.tries = 0
			}
			return u, nil
		}
	}
	return Update{}, s.err
}

// next waits for the next frame, and opens the session again when its connection
// is gone.
func (s *Session) next(ctx context.Context) (protocol.Frame, error) {
	for {
		if s.feed == nil {
			if s.c.single {
				s.err = ErrClosed
				return nil, s.err
			}
			if err := s.open(ctx); err != nil {
				return nil, err
			}
		}
		select {
		case frame := <-s.feed.frames:
			return frame, nil
		default:
		}
		select {
		case frame := <-s.feed.frames:
			return frame, nil
		case <-s.feed.over:
			select {
			case frame := <-s.feed.frames: // sent before the end
				return frame, nil
			default:
				s.feed = nil
			}
		case <-s.ctx.Done():
			s.err = s.closedBy()
			return nil, s.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// closedBy returns why the subscription has ended from this side.
func (s *Session) closedBy() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.c.err != nil {
		return s.c.err
	}
	return ErrClosed
}

// open waits until the session is open again. The opening itself does not end with
// ctx, so that the next call finds it.
func (s *Session) open(ctx context.Context) error {
	if s.opening == nil {
		result, done := make(chan opened, 1), make(chan struct{})
		s.c.mu.Lock()
		if s.ctx.Err() != nil || s.c.err != nil {
			s.c.mu.Unlock()
			s.err = s.closedBy()
			return s.err
		}
		s.opener = done
		anchors, tries := s.anchors(), s.tries
		s.c.wg.Go(func() { // ends with its success, a refusal, or the subscription
			defer close(done)
			result <- s.subscribe(anchors, tries)
		})
		s.c.mu.Unlock()
		s.opening = result
	}
	select {
	case r := <-s.opening:
		s.opening = nil
		if r.err != nil {
			s.err = r.err
			return r.err
		}
		s.feed, s.Opened = r.feed, *r.said
		s.begin(r.feed.link.connected.DeviceID)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// subscribe opens the session on the connection that there is, or on one of the
// next. It waits when it was opened in vain before.
func (s *Session) subscribe(anchors *protocol.Anchors, tries int) opened {
	c := s.c
	var lost *link
	for {
		if tries > 0 {
			sleep(s.ctx, jitter(c.cfg.Rand, window(tries-1)))
		}
		l, err := c.await(s.ctx, lost)
		if s.ctx.Err() != nil {
			return opened{err: s.closedBy()}
		}
		if err != nil {
			return opened{err: err}
		}
		if l.stopping.Load() {
			lost = l // it opens nothing any more
			continue
		}
		f := &feed{session: s, link: l, frames: make(chan protocol.Frame, frameBuffer), over: make(chan struct{})}
		c.mu.Lock()
		if c.link != l {
			c.mu.Unlock()
			continue
		}
		s.current = f
		c.mu.Unlock()
		call := protocol.Call{RequestID: protocol.NewRequestID(c.cfg.Rand), SessionID: s.id, Request: &protocol.OpenSession{Anchors: anchors, Tail: s.tail}}
		reply, err := c.callOn(s.ctx, l, call)
		switch {
		case err == nil:
		case s.ctx.Err() != nil:
			_ = c.closeOn(c.ctx, f) // it may be open
			f.end()
			return opened{err: s.closedBy()}
		case c.single:
			return opened{err: err}
		default:
			lost = l
			continue
		}
		said, err := answer[*protocol.SessionOpened](call, reply)
		if err == nil {
			return opened{feed: f, said: said}
		}
		c.mu.Lock()
		s.current = nil
		c.mu.Unlock()
		var refused *protocol.Error
		locked := errors.As(err, &refused) && refused.Code == protocol.CodeSessionLocked && anchors != nil && tries < maxReopens
		if !locked && !l.stopping.Load() || c.single {
			return opened{err: err}
		}
		tries++
	}
}

// Close ends the subscription. It may be called while another goroutine is in
// Next, which then returns [ErrClosed].
func (s *Session) Close(ctx context.Context) error {
	var err error
	s.once.Do(func() {
		s.cancel()
		c := s.c
		c.mu.Lock()
		opener := s.opener
		c.mu.Unlock()
		select {
		case <-opener: // it ends at once, or when the host has closed what it opened
		case <-ctx.Done():
			c.forget(s)
			err = ctx.Err()
			return
		}
		c.mu.Lock()
		f := s.current
		c.mu.Unlock()
		if f != nil {
			select {
			case <-f.over:
			default:
				if err = c.closeOn(ctx, f); err != nil && !errors.As(err, new(*protocol.Error)) && ctx.Err() == nil {
					err = nil // the connection is gone, and the subscription with it
				}
			}
		}
		c.forget(s)
	})
	return err
}
