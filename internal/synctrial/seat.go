package synctrial

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"scorel/protocol"
)

// seat is a connection of a client that comes back when it was cut: an own, plain
// implementation of the protocol's client side.
type seat struct {
	w     *world
	hello protocol.Hello
	ctx   context.Context // ends with the seat
	stop  context.CancelFunc
	done  chan struct{}

	mu       sync.Mutex
	r        *rand.Rand
	line     *line
	joined   chan struct{} // closed and replaced when a line is there
	sessions map[protocol.SessionID]*watch
	modes    map[protocol.Resync]int
	refused  *protocol.Error // the last time that a session was opened
}

// watch is a session that is open.
type watch struct {
	tail    int
	holding holding
	begun   bool // the resync of this line has come
}

func newSeat(w *world, client protocol.ClientID, r *rand.Rand) *seat {
	s := &seat{w: w, hello: protocol.Hello{ProtocolVersion: protocol.Version, ClientID: client, ClientName: "seat", Interactive: true},
		done: make(chan struct{}), r: r, joined: make(chan struct{}), sessions: map[protocol.SessionID]*watch{}, modes: map[protocol.Resync]int{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	go s.run()
	return s
}

// close ends the seat.
func (s *seat) close() {
	s.stop()
	if l := s.at(); l != nil {
		l.breakOff()
	}
	<-s.done
}

func (s *seat) at() *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

func (s *seat) draw(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.r.IntN(n)
}

// run dials, reads, and dials again.
func (s *seat) run() {
	defer close(s.done)
	for s.ctx.Err() == nil {
		l, err := s.w.dial(s.hello, s.w.rand(uint64(s.draw(1<<30))))
		if err != nil {
			s.pause(time.Duration(s.draw(60)) * time.Millisecond)
			continue
		}
		s.read(l)
		l.breakOff()
	}
}

func (s *seat) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
	}
}

// read opens the sessions on a line and takes its frames until it is cut.
func (s *seat) read(l *line) {
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
		f, err := l.recv(s.ctx)
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
func (s *seat) subscribe(l *line, id protocol.SessionID) {
	s.mu.Lock()
	v := s.sessions[id]
	if v == nil {
		s.mu.Unlock()
		return
	}
	req := &protocol.OpenSession{Anchors: v.holding.anchors(), Tail: v.tail}
	s.mu.Unlock()
	reply, err := l.call(s.ctx, protocol.Call{RequestID: protocol.NewRequestID(s.w), SessionID: id, Request: req})
	if err == nil && reply.Err != nil { // the disk failed, or the host is closing: it is asked again
		s.mu.Lock()
		s.refused = reply.Err
		s.mu.Unlock()
		s.pause(10 * time.Millisecond)
		l.breakOff()
	}
}

// open watches a session.
func (s *seat) open(id protocol.SessionID, tail int) {
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
func (s *seat) shut(id protocol.SessionID) {
	s.mu.Lock()
	delete(s.sessions, id)
	l := s.line
	s.mu.Unlock()
	if l != nil {
		_, _ = l.call(s.ctx, protocol.Call{RequestID: protocol.NewRequestID(s.w), SessionID: id, Request: &protocol.CloseSession{}})
	}
}

// handle takes a frame.
func (s *seat) handle(f protocol.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var id protocol.SessionID
	var err error
	switch f := f.(type) {
	case *protocol.ResyncFrame:
		id = f.SessionID
		if v := s.sessions[id]; v != nil {
			v.begun = true
			s.modes[f.Mode]++
			err = v.holding.resync(f.Mode)
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
			go s.line.breakOff() // and opened again behind it
		}
	}
	if err != nil {
		s.w.fault(fmt.Errorf("%s in %s: %w", s.hello.ClientID, id, err))
	}
}

// live gives the state of a session as the client has it, and whether it has one.
func (s *seat) live(id protocol.SessionID) (protocol.Live, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.sessions[id]
	if v == nil || !v.begun || !v.holding.begun || v.holding.mode != "" {
		return protocol.Live{}, false
	}
	return v.holding.live.Clone(), true
}

// post sends a call on the line that is there, or waits for one.
func (s *seat) post(ctx context.Context, call protocol.Call) (protocol.Reply, error) {
	for {
		s.mu.Lock()
		l, joined := s.line, s.joined
		s.mu.Unlock()
		if l != nil {
			return l.call(ctx, call)
		}
		select {
		case <-joined:
		case <-ctx.Done():
			return protocol.Reply{}, ctx.Err()
		}
	}
}
