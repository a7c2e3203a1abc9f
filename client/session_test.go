package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"scorel/protocol"
)

// said is a persistent event for a subscription.
func said(seq protocol.Seq, text string) protocol.Event {
	e := protocol.NewEvent(&protocol.MessageBody{Message: protocol.UserText(text)})
	e.ID, e.Seq, e.SessionID, e.ClientID = eventID(seq), seq, one, "cli_x"
	return e
}

func eventID(seq protocol.Seq) protocol.EventID {
	return protocol.EventID(fmt.Sprintf("evt_%016d", seq))
}

func delta(seq protocol.Seq) protocol.Event {
	e := protocol.NewEvent(&protocol.TurnStart{TurnIndex: int(seq)})
	e.Seq = seq
	return e
}

func events(es ...protocol.Event) *protocol.EventsFrame {
	return &protocol.EventsFrame{SessionID: one, Events: es}
}

func resync(mode protocol.Resync) *protocol.ResyncFrame {
	return &protocol.ResyncFrame{SessionID: one, Mode: mode}
}

// alive is the state at the end of catching up.
func alive(epoch protocol.Epoch, through, persistent protocol.Seq) *protocol.LiveFrame {
	l := protocol.Live{DeviceID: "dev_a", StreamEpoch: epoch, ThroughSeq: through, PersistentLastSeq: persistent, Running: true}
	if persistent > 0 {
		l.PersistentLastID, l.LeafID = eventID(persistent), eventID(persistent)
	}
	return &protocol.LiveFrame{SessionID: one, Live: l}
}

// told is what Next gave, in short: f for fresh, the mode of a resync, then seqs.
type told struct {
	resync protocol.Resync
	fresh  bool
	seqs   []protocol.Seq
}

func (w *wire) send(frames ...protocol.Frame) {
	for _, f := range frames {
		w.frames <- f
	}
}

// answer sends frames once the session has been opened.
func (w *wire) answer(frames ...protocol.Frame) {
	<-w.opened
	w.send(frames...)
}

// expect takes updates.
func expect(t *testing.T, s *Session, want ...told) {
	t.Helper()
	for i, w := range want {
		u, err := s.Next(t.Context())
		got := told{resync: u.Resync, fresh: u.Fresh}
		for _, e := range u.Events {
			got.seqs = append(got.seqs, e.Seq)
		}
		if err != nil || got.resync != w.resync || got.fresh != w.fresh || !slices.Equal(got.seqs, w.seqs) {
			t.Fatalf("update %d: %+v %v, not %+v", i, got, err, w)
		}
	}
}

func seqs(s ...protocol.Seq) []protocol.Seq { return s }

func TestASubscriptionGoesOnOverReconnectsFromWhereItsReaderStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c3, d := newWire(), newWire(), newWire(), newWire()
		c := Connect(Config{Dial: inTurn(a, b, c3, d)})
		defer c.Close()
		s := open(t, c, one)
		if got := a.opens[0]; got.Anchors != nil || got.Tail != 7 {
			t.Errorf("the first opening: %+v", got)
		}
		a.send(events(said(1, "of an earlier subscription")), resync(protocol.FullReload), events(said(2, "x"), said(4, "x")), alive("epo_1", 6, 5), events(delta(7), said(8, "x")))
		expect(t, s, told{protocol.FullReload, false, seqs(2, 4)}, told{fresh: true}, told{seqs: seqs(7, 8)})
		close(a.frames) // what follows comes over the next connection, and nothing of it is repeated
		go b.answer(events(said(99, "before its beginning")), resync(protocol.StreamResume), events(delta(7), said(8, "x"), delta(9), said(10, "x")), alive("epo_1", 10, 10), events(delta(10), delta(11)))
		expect(t, s, told{protocol.StreamResume, false, seqs(9, 10)}, told{fresh: true}, told{seqs: seqs(11)})
		if got := b.opens[0].Anchors; got == nil || *got != (protocol.Anchors{DeviceID: "dev_a", StreamEpoch: "epo_1", StreamLastSeq: 8, PersistentLastSeq: 8, PersistentLastID: eventID(8)}) {
			t.Errorf("the second opening: %+v", got)
		}
		close(b.frames)
		// In a new epoch numbers of transient events come again.
		go c3.answer(resync(protocol.PersistentFallback), events(said(10, "x"), said(12, "x")), events(delta(11)), alive("epo_2", 12, 12), events(delta(13)))
		expect(t, s, told{protocol.PersistentFallback, false, seqs(12)})
		if s.Live.Running {
			t.Error("what ran before the new epoch still runs")
		}
		expect(t, s, told{fresh: true}, told{seqs: seqs(13)})
		if got := c3.opens[0].Anchors; got == nil || got.StreamLastSeq != 11 || got.PersistentLastSeq != 10 {
			t.Errorf("the third opening: %+v", got)
		}
		close(c3.frames)
		go d.answer(resync(protocol.FullReload), alive("epo_3", 3, 3), events(said(4, "x")))
		expect(t, s, told{protocol.FullReload, true, nil}, told{seqs: seqs(4)})
		if s.Live.ThroughSeq != 4 {
			t.Errorf("the state is through %d", s.Live.ThroughSeq)
		}
	})
}

func TestACatchingUpThatBreaksGoesOnFromWhereItBroke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c3 := newWire(), newWire(), newWire()
		c := Connect(Config{Dial: inTurn(a, b, c3)})
		defer c.Close()
		s := open(t, c, one)
		a.send(resync(protocol.FullReload), events(said(2, "x")))
		close(a.frames)
		go func() {
			b.answer(resync(protocol.PersistentFallback), events(said(3, "x")), resync(protocol.FullReload)) // the last begins nothing
			close(b.frames)
		}()
		go c3.answer(resync(protocol.PersistentFallback), events(said(4, "x")), alive("epo_1", 4, 4))
		expect(t, s, told{protocol.FullReload, false, seqs(2)}, told{protocol.PersistentFallback, false, seqs(3)}, told{protocol.PersistentFallback, false, seqs(4)}, told{fresh: true})
		if got := b.opens[0].Anchors; got == nil || *got != (protocol.Anchors{DeviceID: "dev_a", PersistentLastSeq: 2, PersistentLastID: eventID(2)}) {
			t.Errorf("the second opening: %+v", got)
		}
		if got := c3.opens[0].Anchors; got == nil || got.PersistentLastSeq != 3 {
			t.Errorf("the third opening: %+v", got)
		}
	})
}

func TestAGapIsNeverHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newWire()
		c := Connect(Config{Dial: inTurn(a)})
		defer c.Close()
		s := open(t, c, one)
		a.send(resync(protocol.FullReload), alive("epo_1", 2, 2), resync(protocol.PersistentFallback), alive("epo_2", 9, 9))
		expect(t, s, told{protocol.FullReload, true, nil})
		go func() {
			<-a.opened // the first
			<-a.opened
			a.send(events(said(10, "x")), resync(protocol.FullReload), events(said(9, "x")), alive("epo_2", 9, 9))
		}()
		expect(t, s, told{protocol.FullReload, false, seqs(9)}, told{fresh: true})
		if !slices.Equal(a.calls, []string{"open_session", "close_session", "open_session"}) || a.opens[1].Anchors != nil {
			t.Errorf("requests %v, the second opening with %+v", a.calls, a.opens[1].Anchors)
		}
	})
}

func TestASessionThatIsNoMoreEndsItsReaderWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newWire(), newWire()
		c := Connect(Config{Dial: inTurn(a, b)})
		defer c.Close()
		s := open(t, c, one)
		b.fail = protocol.Errorf(protocol.CodeSessionNotFound, "It was deleted.")
		a.send(resync(protocol.FullReload), alive("epo_1", 2, 2))
		close(a.frames)
		expect(t, s, told{protocol.FullReload, true, nil})
		for range 2 {
			var pe *protocol.Error
			if _, err := s.Next(t.Context()); !errors.As(err, &pe) || pe.Code != protocol.CodeSessionNotFound {
				t.Errorf("next: %v", err)
			}
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
		if n := len(b.calls); n != 1 {
			t.Errorf("requests of the second connection: %v", b.calls)
		}
	})
}

func TestASessionThatTheHostClosesWithoutAReasonIsOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newWire(), newWire()
		c := Connect(Config{Dial: inTurn(a, b)})
		defer c.Close()
		s := open(t, c, one)
		a.send(resync(protocol.FullReload), alive("epo_1", 2, 2), &protocol.SessionClosed{SessionID: one})
		expect(t, s, told{protocol.FullReload, true, nil})
		go func() {
			<-a.opened
			<-a.opened
			a.send(resync(protocol.StreamResume), alive("epo_1", 2, 2), &protocol.HostStopping{}, &protocol.SessionClosed{SessionID: one})
			synctest.Wait()
			close(a.frames)
		}()
		expect(t, s, told{protocol.StreamResume, true, nil})
		go b.answer(resync(protocol.StreamResume), events(said(3, "x")), alive("epo_1", 3, 3))
		expect(t, s, told{protocol.StreamResume, false, seqs(3)}, told{fresh: true})
		if len(a.opens) != 2 {
			t.Errorf("a host that stops was asked %d times", len(a.opens))
		}
	})
}

func TestNextThatIsCancelledWhileItReconnectsCanBeCalledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newWire(), newWire()
		b.hold = make(chan struct{})
		c := Connect(Config{Dial: inTurn(a, b)})
		defer c.Close()
		s := open(t, c, one)
		a.send(resync(protocol.FullReload), alive("epo_1", 2, 2))
		close(a.frames)
		expect(t, s, told{protocol.FullReload, true, nil})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-b.opened
			cancel()
			synctest.Wait()
			close(b.hold)
			b.send(resync(protocol.StreamResume), alive("epo_1", 2, 2))
		}()
		if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled one: %v", err)
		}
		expect(t, s, told{protocol.StreamResume, true, nil})
		if len(b.opens) != 1 {
			t.Errorf("it was opened %d times", len(b.opens))
		}
	})
}

func TestAnOpenThatIsCancelledLeavesNothingOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newWire()
		a.hold = make(chan struct{})
		c := Connect(Config{Dial: inTurn(a)})
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-a.opened
			cancel()
		}()
		if _, err := c.Open(ctx, one, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("open: %v", err)
		}
		synctest.Wait()
		close(a.hold)
		synctest.Wait()
		if !slices.Equal(a.calls, []string{"open_session", "close_session"}) {
			t.Errorf("requests: %v", a.calls)
		}
		open(t, c, one)
	})
}

func TestNothingOfASubscriptionThatWasGivenUpIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newWire()
		a.holdClose = make(chan struct{})
		c := Connect(Config{Dial: inTurn(a)})
		defer c.Close()
		s := open(t, c, one)
		a.send(resync(protocol.FullReload), alive("epo_1", 1, 1))
		const kept = frameBuffer - 2
		for seq := protocol.Seq(2); seq < 2+kept+1; seq++ { // one more than there is room for
			a.send(events(said(seq, "x")))
		}
		time.Sleep(sendTimeout + time.Second) // of the bubble's clock
		expect(t, s, told{protocol.FullReload, true, nil}, told{seqs: seqs(2)}, told{seqs: seqs(3)})
		a.send(events(said(100, "late"))) // there is room now, but something was left out before
		close(a.holdClose)
		for seq := protocol.Seq(4); seq < 2+kept; seq++ {
			expect(t, s, told{seqs: seqs(seq)})
		}
		<-a.opened // the first
		go a.answer(resync(protocol.StreamResume), events(said(2+kept, "x"), said(100, "late")), alive("epo_1", 100, 100))
		expect(t, s, told{protocol.StreamResume, false, seqs(2+kept, 100)}, told{fresh: true})
	})
}

func TestASessionThatNobodyReadsStopsNeitherRepliesNorOthersAndCatchesUp(t *testing.T) {
	const total = 400
	l := newListener(t)
	var opens []*protocol.OpenSession // used by the connection's reader alone, as what follows
	var stop, stopped chan struct{}
	many := make(chan struct{}) // closed when much was sent
	l.call = func(p *peer, c protocol.Call) {
		switch r := c.Request.(type) {
		case *protocol.OpenSession:
			p.reply(c, &protocol.SessionOpened{})
			if c.SessionID == two {
				go func() { // as a host does, beside the requests
					p.frame(&protocol.ResyncFrame{SessionID: two, Mode: protocol.FullReload})
					p.frame(&protocol.LiveFrame{SessionID: two})
				}()
				return
			}
			opens = append(opens, r)
			from, first := protocol.Seq(0), len(opens) == 1
			mode := protocol.FullReload
			if r.Anchors != nil {
				from, mode = r.Anchors.PersistentLastSeq, protocol.StreamResume
			}
			stop, stopped = make(chan struct{}), make(chan struct{})
			go func(stop, stopped chan struct{}) {
				defer close(stopped)
				p.frame(resync(mode))
				p.frame(alive("epo_1", from, from))
				for seq := from + 1; seq <= total && (!first || seq < 200); seq++ {
					select {
					case <-stop:
						return
					default:
						p.frame(events(said(seq, "x")))
					}
					if first && seq == 100 {
						close(many)
					}
				}
			}(stop, stopped)
		case *protocol.CloseSession:
			close(stop)
			<-stopped
			p.reply(c, &protocol.Done{})
		default:
			<-many // so that the reply is after it
			p.reply(c, &protocol.Done{})
		}
	}
	c := connected(t, l)
	unread, other := open(t, c, one), open(t, c, two)
	if u, err := other.Next(t.Context()); err != nil || !u.Fresh {
		t.Errorf("the other session: %+v %v", u, err)
	}
	if _, err := Call[protocol.Response](t.Context(), c, "", &protocol.Ping{}); err != nil {
		t.Errorf("a request: %v", err)
	}
	var got []protocol.Seq
	for len(got) < total {
		u, err := unread.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range u.Events {
			got = append(got, e.Seq)
		}
	}
	if len(opens) < 2 {
		t.Errorf("it was opened %d times: nobody was slow", len(opens))
	}
	for i, seq := range got {
		if seq != protocol.Seq(i+1) {
			t.Fatalf("event %d has seq %d", i, seq)
		}
	}
}
