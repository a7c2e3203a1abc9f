package simtest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"scorel/client"
	"scorel/protocol"
)

// connection is how a person sits at a device: a connection that comes back when it was
// cut, and what it brought of the sessions that are open.
type connection interface {
	// act makes a request that acts; the error is errCut when nobody knows what became
	// of it.
	act(ctx context.Context, call protocol.Call) (protocol.Reply, error)
	// once reports whether act sends a call once; otherwise it sends it, under an id of its
	// own, until there is an answer.
	once() bool
	open(id protocol.SessionID, tail int)
	shut(id protocol.SessionID)
	// abort cuts the connection.
	abort()
	// close ends the connection; no goroutine of it is left.
	close()
	notes() *book
}

// book is what a client has of its sessions.
type book struct {
	mu       sync.Mutex
	sessions map[protocol.SessionID]*watch
	modes    map[protocol.Resync]int
	refused  error // why a session was not opened, the last time
}

func newBook() book {
	return book{sessions: map[protocol.SessionID]*watch{}, modes: map[protocol.Resync]int{}}
}

// watch is a session that is open.
type watch struct {
	tail    int
	holding holding
	begun   bool // the resync of this subscription has come

	// Of a connection with the client library.
	stop context.CancelFunc
	done chan struct{}
	show *client.Projection // of the subscription that there is
}

// live returns the state of a session as the client has it, and whether it has one.
func (b *book) live(id protocol.SessionID) (protocol.Live, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.sessions[id]
	if v == nil || !v.begun || !v.holding.begun || v.holding.mode != "" {
		return protocol.Live{}, false
	}
	return v.holding.live.Clone(), true
}

// holds lends what the client has of a session, unless it is not open.
func (b *book) holds(id protocol.SessionID, look func(*holding) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if v := b.sessions[id]; v != nil {
		return look(&v.holding)
	}
	return nil
}

func (b *book) isOpen(id protocol.SessionID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[id] != nil
}

func (b *book) notes() *book { return b }

// plain is a connection with an own, plain implementation of the protocol's client side,
// on embedded connections.
type plain struct {
	book
	w     *world
	hello protocol.Hello
	ctx   context.Context // ends with the connection
	stop  context.CancelFunc
	done  chan struct{}

	r      *rand.Rand    // guarded by mu
	line   *line         // guarded by mu
	joined chan struct{} // guarded by mu; closed and replaced when a line is there
}

func newPlain(w *world, client protocol.ClientID, r *rand.Rand) *plain {
	s := &plain{book: newBook(), w: w, hello: protocol.Hello{ProtocolVersion: protocol.Version, ClientID: client, ClientName: "plain", Interactive: true},
		done: make(chan struct{}), r: r, joined: make(chan struct{})}
	s.ctx, s.stop = context.WithCancel(context.Background())
	go s.run()
	return s
}

func (s *plain) once() bool { return true }

func (s *plain) abort() {
	if l := s.at(); l != nil {
		l.abort()
	}
}

// close ends the connection.
func (s *plain) close() {
	s.stop()
	s.abort()
	<-s.done
}

func (s *plain) at() *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

func (s *plain) random(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.IntN(n)
}

// run dials, reads, and dials again.
func (s *plain) run() {
	defer close(s.done)
	for s.ctx.Err() == nil {
		l, err := s.w.dial(s.hello, s.w.rand(uint64(s.random(1<<30))))
		if err != nil {
			s.pause(time.Duration(s.random(60)) * time.Millisecond)
			continue
		}
		s.read(l)
		l.abort()
	}
}

func (s *plain) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
	}
}

// read opens the sessions on a line and takes its frames until it is cut.
func (s *plain) read(l *line) {
	s.mu.Lock()
	s.line = l
	open := slices.Sorted(maps.Keys(s.sessions))
	for _, v := range s.sessions {
		v.begun = false
	}
	close(s.joined)
	s.joined = make(chan struct{})
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, id := range open {
		wg.Go(func() { s.subscribe(l, id) })
	}
	for {
		f, err := l.Recv(s.ctx)
		if err != nil {
			break
		}
		s.handle(f)
	}
	s.mu.Lock()
	s.line = nil
	s.mu.Unlock()
	wg.Wait()
}

// subscribe opens a session on a line, with what the client holds of it.
func (s *plain) subscribe(l *line, id protocol.SessionID) {
	s.mu.Lock()
	v := s.sessions[id]
	if v == nil {
		s.mu.Unlock()
		return
	}
	req := &protocol.OpenSession{Anchors: v.holding.anchors(), Tail: v.tail}
	s.mu.Unlock()
	reply, err := l.Call(s.ctx, protocol.Call{RequestID: protocol.NewRequestID(s.w), SessionID: id, Request: req})
	if err == nil && reply.Err != nil { // the disk failed, or the host is closing: it is asked again
		s.mu.Lock()
		s.refused = reply.Err
		s.mu.Unlock()
		s.pause(10 * time.Millisecond)
		l.abort()
	}
}

// open watches a session.
func (s *plain) open(id protocol.SessionID, tail int) {
	s.mu.Lock()
	if s.sessions[id] != nil {
		s.mu.Unlock()
		return
	}
	s.sessions[id] = &watch{tail: tail}
	l := s.line
	s.mu.Unlock()
	if l != nil {
		s.subscribe(l, id)
	}
}

// shut watches a session no longer.
func (s *plain) shut(id protocol.SessionID) {
	s.mu.Lock()
	delete(s.sessions, id)
	l := s.line
	s.mu.Unlock()
	if l != nil {
		_, _ = l.Call(s.ctx, protocol.Call{RequestID: protocol.NewRequestID(s.w), SessionID: id, Request: &protocol.CloseSession{}})
	}
}

// handle takes a frame.
func (s *plain) handle(f protocol.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var id protocol.SessionID
	var err error
	switch f := f.(type) {
	case *protocol.ResyncFrame:
		id = f.SessionID
		if v := s.sessions[id]; v != nil {
			// The reader of a line and its calls do not wait for each other: a frame of a
			// subscription that was closed may come after the answer to that.
			if v.begun = v.holding.begun || f.Mode == protocol.FullReload; v.begun {
				s.modes[f.Mode]++
				err = v.holding.resync(f.Mode)
			}
		}
	case *protocol.EventsFrame:
		id = f.SessionID
		if v := s.sessions[id]; v != nil && v.begun {
			err = v.holding.take(f.Events, s.w.model.knows)
		}
	case *protocol.LiveFrame:
		id = f.SessionID
		if v := s.sessions[id]; v != nil && v.begun {
			if err = v.holding.fresh(f.Live); err == nil {
				err = running(f.Live, s.w.model.knows)
			}
		}
	case *protocol.SessionClosed:
		if v := s.sessions[f.SessionID]; v != nil && v.begun {
			go s.line.abort() // and opened again after it
		}
	}
	if err != nil {
		s.w.fault(fmt.Errorf("%s in %s: %w", s.hello.ClientID, id, err))
	}
}

// act sends a call on the line that is there, or waits for one.
func (s *plain) act(ctx context.Context, call protocol.Call) (protocol.Reply, error) {
	for {
		s.mu.Lock()
		l, joined := s.line, s.joined
		s.mu.Unlock()
		if l != nil {
			return l.Call(ctx, call)
		}
		select {
		case <-joined:
		case <-ctx.Done():
			return protocol.Reply{}, ctx.Err()
		}
	}
}
