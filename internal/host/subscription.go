package host

import (
	"context"
	"fmt"
	"io"
	"sync"

	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/library"
	"scorel/internal/host/publish"
	"scorel/internal/host/registry"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// Bounds of subscriptions.
const (
	maxSubscriptions = 64   // sessions that one connection has open
	maxMissed        = 2000 // persistent events that a client is sent which comes back
)

// subscription is one open session of a connection.
type subscription struct {
	c      *Conn
	opened *registry.Session
	stop   context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex // guards what follows; the lane's lock may be taken with it held
	detach func()     // not nil while the lane counts it as able to answer
	ended  bool
}

func (c *Conn) openSession(ctx context.Context, id protocol.SessionID, r *protocol.OpenSession) (*protocol.SessionOpened, error) {
	s, err := c.h.sessions.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	sendCtx, stop := context.WithCancel(c.ctx)
	sub := &subscription{c: c, opened: s, stop: stop, done: make(chan struct{})}
	sub.attend()
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
		sub.end()
		return nil, err
	}
	sent := false
	defer func() {
		if !sent { // a panic, because the session is being given up
			sub.drop()
		}
	}()
	sub.attend() // a grant that changed meanwhile did not find it
	opened := &protocol.SessionOpened{Summary: s.Summary(), Findings: s.Findings(), ReadOnly: s.Report().ReadOnly, NeedsLeaf: s.Lane().Log().NeedsLeaf()}
	opened.Interrupted = s.Lane().Interrupted(ctx)
	opened.Holds = append(c.h.rooms.automation.Holds(id), s.Lane().Holds()...)
	sent = true
	go func() { // ends with the subscription or the connection
		defer c.wg.Done()
		sub.sendLoop(sendCtx, r.Anchors, r.Tail)
	}()
	return opened, nil
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
	s.end()
	return nil
}

// attend tells the lane whether somebody can answer here, when that has changed.
func (s *subscription) attend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch answers := s.c.canAnswer() && !s.ended; {
	case answers && s.detach == nil:
		l := s.opened.Lane()
		free, leave := l.Components().Attach(s.c), l.Questions().Attach(true)
		s.detach = func() {
			free() // before questions are closed because nobody is there
			leave()
		}
	case !answers && s.detach != nil:
		s.detach()
		s.detach = nil
	}
}

// drop takes back a subscription that the connection counts and that is not sent.
func (s *subscription) drop() {
	defer s.c.wg.Done()
	defer close(s.done) // close_session may wait for it
	s.stop()
	s.c.mu.Lock()
	id := s.opened.Lane().ID()
	mine := s.c.subs[id] == s
	if mine {
		delete(s.c.subs, id)
	}
	s.c.mu.Unlock()
	if mine {
		s.end()
	}
}

// end gives the session back. Who has taken the subscription from the connection's
// list, or could not put it there, calls it, once.
func (s *subscription) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	defer s.c.h.sessions.Release(s.opened) // also of a session that was given up, whose lane cannot be asked
	s.attend()
}

// sendLoop sends the subscription until it ends. When it ends from the host's side the
// client may open the session again.
func (s *subscription) sendLoop(ctx context.Context, a *protocol.Anchors, tail int) {
	defer close(s.done)
	defer s.c.h.Rescue("ending a subscription")
	f := &feed{c: s.c, lane: s.opened.Lane()}
	err := s.feed(ctx, f, a, tail)
	if ctx.Err() != nil {
		return
	}
	c, id := s.c, f.lane.ID()
	c.mu.Lock()
	mine := c.subs[id] == s
	if mine {
		delete(c.subs, id)
	}
	c.mu.Unlock()
	if !mine {
		return
	}
	s.end()
	closed := &protocol.SessionClosed{SessionID: id}
	if err != publish.ErrClosed {
		closed.Err = failure.Of(err)
		c.h.log.Report(id, fmt.Sprintf("subscription of %s ended: %s", c.client, closed.Err.Code), nil)
	}
	_ = c.send(c.ctx, closed) // the end of the connection is the same news
}

// feed runs a feed. A panic gives the session up, and the client is told of that as of
// any end: it may open it again.
func (s *subscription) feed(ctx context.Context, f *feed, a *protocol.Anchors, tail int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.opened.Lane().Panicked(r)
			err = publish.ErrClosed
		}
	}()
	f.cursor = f.lane.Publisher().Cursor(s.c.h.cfg.Serving)
	defer s.tell()
	defer f.cursor.Close()
	s.tell()
	return f.run(ctx, a, tail)
}

// tell has all clients learn how many look at the session, when a person comes or goes:
// scripts come and go with every request.
func (s *subscription) tell() {
	if s.c.interactive {
		s.c.h.audience.SessionChanged(s.opened)
	}
}

// feed sends one subscription. It belongs to one goroutine, which holds no more than
// one frame while the client does not take it.
type feed struct {
	c      *Conn
	lane   *lane.Lane
	cursor *publish.Cursor
	sent   protocol.Seq // what is persistent through here has been sent, or the client holds it
	count  int          // events of this catching up
}

// run sends how the subscription begins, what the client lacks, the live state, and
// then everything as it comes. When the publisher's ring has passed it, it reads on
// from the log and takes the live state where the log ends; when a new epoch has
// begun, it takes the state at its beginning.
func (f *feed) run(ctx context.Context, a *protocol.Anchors, tail int) error {
	mode, err := f.choose(ctx, a)
	if err == nil {
		err = f.catchUp(ctx, mode, tail)
	}
	for {
		for err == nil {
			var events []protocol.Event
			if events, err = f.cursor.Next(ctx); err == nil {
				err = f.sendEvents(ctx, events)
			}
		}
		switch err {
		case publish.ErrGap:
			f.sent = f.cursor.Last()
			err = f.catchUp(ctx, protocol.PersistentFallback, 0)
		case publish.ErrEpoch:
			// The state is taken before the client is waited for: meanwhile another
			// epoch may begin.
			live, ok := f.cursor.Restart()
			if !ok {
				f.sent = f.cursor.Last()
				err = f.catchUp(ctx, protocol.PersistentFallback, 0)
			} else if err = f.resync(ctx, protocol.PersistentFallback); err == nil {
				err = f.sendLive(ctx, protocol.PersistentFallback, live)
			}
		default:
			return err
		}
	}
}

// choose returns how a client goes on that stands at a, and places what it can. The
// rules are those of docs/protocol.md.
func (f *feed) choose(ctx context.Context, a *protocol.Anchors) (protocol.Resync, error) {
	if a == nil || a.DeviceID != f.c.h.identity.id {
		return protocol.FullReload, nil
	}
	if f.cursor.Resume(a.StreamEpoch, a.StreamLastSeq) {
		return protocol.StreamResume, nil
	}
	index := f.lane.Log().Index()
	through, _ := f.lane.Publisher().Published()
	known := a.PersistentLastID == "" && a.PersistentLastSeq == 0 || // the client knows the session as it was when it was empty
		a.PersistentLastID != "" && a.PersistentLastSeq <= through && index.SeqOf(a.PersistentLastID) == a.PersistentLastSeq
	if !known || a.PersistentLastSeq < index.Tail(maxMissed) {
		return protocol.FullReload, ctx.Err()
	}
	f.sent = a.PersistentLastSeq
	return protocol.PersistentFallback, nil
}

// catchUp sends what the client lacks, and the live state.
func (f *feed) catchUp(ctx context.Context, mode protocol.Resync, tail int) error {
	if err := f.resync(ctx, mode); err != nil {
		return err
	}
	if mode == protocol.StreamResume {
		return f.fromRing(ctx)
	}
	pub := f.lane.Publisher()
	if mode == protocol.FullReload {
		through, leaf := pub.Published()
		if err := f.sendTail(ctx, leaf, tail); err != nil {
			return err
		}
		f.sent = through
	}
	for {
		if live, ok := f.cursor.Join(f.sent); ok {
			return f.sendLive(ctx, mode, live)
		}
		through, _ := pub.Published()
		if err := f.sendRange(ctx, f.sent, through); err != nil {
			return err
		}
		f.sent = through
	}
}

// fromRing sends what the ring holds after the cursor, and the live state.
func (f *feed) fromRing(ctx context.Context) error {
	for {
		events, live, err := f.cursor.CatchUp()
		if err != nil {
			return err
		}
		if err := f.sendEvents(ctx, events); err != nil {
			return err
		}
		if live != nil {
			return f.sendLive(ctx, protocol.StreamResume, *live)
		}
	}
}

func (f *feed) resync(ctx context.Context, mode protocol.Resync) error {
	f.count = 0
	return f.c.send(ctx, &protocol.ResyncFrame{SessionID: f.lane.ID(), Mode: mode})
}

// sendLive ends a catching up.
func (f *feed) sendLive(ctx context.Context, mode protocol.Resync, live protocol.Live) error {
	f.c.h.log.Report(f.lane.ID(), fmt.Sprintf("resync of %s: %s, %d events", f.c.client, mode, f.count), nil)
	return f.c.send(ctx, &protocol.LiveFrame{SessionID: f.lane.ID(), Live: live})
}

// sendEvents sends what a cursor gave, which fits one frame; a large event is read
// from the log.
func (f *feed) sendEvents(ctx context.Context, events []protocol.Event) error {
	if len(events) == 1 && events[0].Body == nil {
		whole, err := f.lane.Log().Index().Event(ctx, events[0].ID)
		if err != nil {
			return err
		}
		var ok bool
		if whole, ok = library.Sendable(whole); !ok {
			return nil
		}
		events = []protocol.Event{whole}
	}
	if len(events) == 0 {
		return nil
	}
	f.count += len(events)
	return f.c.send(ctx, &protocol.EventsFrame{SessionID: f.lane.ID(), Events: events})
}

// sendTail sends the newest events of the path to a leaf, oldest first. Only their
// ids are held at once.
func (f *feed) sendTail(ctx context.Context, leaf protocol.EventID, tail int) error {
	if tail == 0 {
		return nil
	}
	index := f.lane.Log().Index()
	path, err := index.Path(leaf)
	if err != nil {
		return err
	}
	b := &batch{f: f}
	for _, id := range path[max(0, len(path)-tail):] {
		e, err := index.Event(ctx, id)
		if err != nil {
			return err
		}
		if err := b.add(ctx, e); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// sendRange sends the persistent events after from, to through and no further.
func (f *feed) sendRange(ctx context.Context, from, through protocol.Seq) error {
	b := &batch{f: f}
	for e, err := range f.lane.Log().Index().EventsAfter(ctx, from) {
		if err != nil {
			return err
		}
		if e.Seq > through {
			break
		}
		if err := b.add(ctx, e); err != nil {
			return err
		}
	}
	return b.flush(ctx)
}

// batch gathers events of the log for one frame.
type batch struct {
	f      *feed
	events []protocol.Event
	bytes  int
}

// add takes an event, unless its line is damaged, and sends what was gathered when
// it does not go into the same frame.
func (b *batch) add(ctx context.Context, e protocol.Event) error {
	e, ok := library.Sendable(e)
	if !ok {
		return nil
	}
	size := publish.Size(e)
	if len(b.events) == publish.BatchEvents || len(b.events) > 0 && b.bytes+size > publish.BatchBytes {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.events, b.bytes = append(b.events, e), b.bytes+size
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	events := b.events
	b.events, b.bytes = nil, 0
	return b.f.sendEvents(ctx, events)
}

// handleSubscriptions registers the handlers of this file's requests.
func (h *Host) handleSubscriptions(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.OpenSession) (protocol.Response, error) {
		return connOf(at).openSession(ctx, at.Call.SessionID, r)
	})
	request.On(t, func(_ context.Context, at *request.Target, _ *protocol.CloseSession) (protocol.Response, error) {
		return &protocol.Done{}, connOf(at).closeSession(at.Call.SessionID)
	})
}
