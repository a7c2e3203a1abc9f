package simtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"scorel/client"
	"scorel/protocol"
)

// library is a connection with the client library, on embedded connections or on
// WebSockets.
type library struct {
	book
	w      *world
	c      *client.Client
	ctx    context.Context // ends with the connection
	stop   context.CancelFunc
	cutOff func() // cuts the connection

	randMu sync.Mutex
	r      *rand.Rand
}

func (w *world) newLibrary(id protocol.ClientID, r *rand.Rand, wired bool) *library {
	s := &library{book: newBook(), w: w, r: r}
	s.ctx, s.stop = context.WithCancel(context.Background())
	dial := s.embedded(id)
	if wired {
		dial = s.wired(id)
	}
	s.c = client.Connect(client.Config{Dial: dial, Rand: w})
	return s
}

// embedded dials by lines.
func (s *library) embedded(id protocol.ClientID) func(context.Context) (client.Transport, protocol.Connected, error) {
	var mu sync.Mutex
	var last *line
	s.cutOff = func() {
		mu.Lock()
		defer mu.Unlock()
		if last != nil {
			last.abort()
		}
	}
	hello := protocol.Hello{ProtocolVersion: protocol.Version, ClientID: id, ClientName: "library", Interactive: true}
	return func(context.Context) (client.Transport, protocol.Connected, error) {
		l, err := s.w.dial(hello, s.w.rand(uint64(s.random(1<<30))))
		if err != nil {
			return nil, protocol.Connected{}, err
		}
		mu.Lock()
		defer mu.Unlock()
		last = l
		return l, protocol.Connected{DeviceID: s.w.device(), Grant: protocol.GrantControl}, nil
	}
}

// wired dials by WebSockets.
func (s *library) wired(id protocol.ClientID) func(context.Context) (client.Transport, protocol.Connected, error) {
	var mu sync.Mutex
	var last net.Conn
	s.cutOff = func() {
		mu.Lock()
		defer mu.Unlock()
		if last != nil {
			_ = last.Close()
		}
	}
	ws := &client.WebSocket{URL: "ws://" + wireAddress, Token: token, ClientID: id, ClientName: "library", Interactive: true, Rand: s.w,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			c, err := s.w.lay(ctx, s.w.rand(uint64(s.random(1<<30))))
			if err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			last = c
			return c, nil
		}}
	return func(ctx context.Context) (client.Transport, protocol.Connected, error) {
		t, connected, err := ws.Dial(ctx)
		var permanent *client.PermanentError
		if errors.As(err, &permanent) {
			s.w.fault(err) // no cut may look as if the host were another one
		}
		return t, connected, err
	}
}

func (s *library) random(n int) int {
	s.randMu.Lock()
	defer s.randMu.Unlock()
	return s.r.IntN(n)
}

func (s *library) once() bool { return false }

func (s *library) abort() { s.cutOff() }

// act makes a request; the library repeats it.
func (s *library) act(ctx context.Context, call protocol.Call) (protocol.Reply, error) {
	r, err := client.Call[protocol.Response](ctx, s.c, call.SessionID, call.Request)
	var refused *protocol.Error
	switch {
	case errors.As(err, &refused):
		return protocol.Reply{Err: refused}, nil
	case err != nil:
		return protocol.Reply{}, errCut
	}
	return protocol.Reply{Data: r}, nil
}

func (s *library) open(id protocol.SessionID, tail int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[id] != nil || s.ctx.Err() != nil {
		return
	}
	v := &watch{tail: tail, done: make(chan struct{})}
	ctx, stop := context.WithCancel(s.ctx)
	v.stop = stop
	s.sessions[id] = v
	go s.follow(ctx, id, v) // ends with the watch
}

func (s *library) shut(id protocol.SessionID) {
	s.mu.Lock()
	v := s.sessions[id]
	delete(s.sessions, id)
	s.mu.Unlock()
	if v != nil {
		v.stop()
		<-v.done
	}
}

// follow reads a session, now and then slowly. What the host refuses is asked for
// again: the disk may have failed.
func (s *library) follow(ctx context.Context, id protocol.SessionID, v *watch) {
	defer close(v.done)
	for ctx.Err() == nil {
		err := s.read(ctx, id, v)
		s.mu.Lock()
		if err != nil {
			s.refused = err
		}
		v.begun, v.holding = false, holding{}
		s.mu.Unlock()
		rest(ctx, 50*time.Millisecond)
	}
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (s *library) read(ctx context.Context, id protocol.SessionID, v *watch) error {
	session, err := s.c.Open(ctx, id, v.tail)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close(context.WithoutCancel(ctx)) }() // it is over
	s.mu.Lock()
	v.show = client.NewProjection()
	s.mu.Unlock()
	for {
		u, err := session.Next(ctx)
		if err != nil {
			return err
		}
		if s.w.net.isGood() {
			// it reads as fast as it can
		} else if n := s.random(400); n < 8 {
			rest(ctx, time.Duration(n)*500*time.Millisecond)
		}
		s.mu.Lock()
		err = s.update(v, u, session.Live)
		s.mu.Unlock()
		if err != nil {
			s.w.fault(err)
			return err
		}
	}
}

// update takes what the library gives. mu is held.
func (s *library) update(v *watch, u client.Update, live protocol.Live) error {
	v.show.Apply(u, &live)
	h := &v.holding
	if u.Resync != "" {
		v.begun = true
		s.modes[u.Resync]++
		if err := h.resync(u.Resync); err != nil {
			return err
		}
	}
	if err := h.take(u.Events, s.w.model.knows); err != nil {
		return err
	}
	if u.Fresh {
		if err := h.fresh(live); err != nil {
			return err
		}
		return running(live, s.w.model.knows)
	}
	if h.mode == "" && h.begun {
		return sameLive(h.live, live)
	}
	return nil
}

func (s *library) close() {
	s.stop()
	_ = s.c.Close() // the connection may be gone
	s.mu.Lock()
	all := s.sessions
	s.sessions = map[protocol.SessionID]*watch{}
	s.mu.Unlock()
	for _, v := range all {
		v.stop()
		<-v.done
	}
}
