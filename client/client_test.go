package client

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	one protocol.SessionID = "ses_00000000000000000000000001"
	two protocol.SessionID = "ses_00000000000000000000000002"
)

// wire is a transport whose host is the test.
type wire struct {
	frames    chan protocol.Frame
	closed    chan struct{}
	once      sync.Once
	opened    chan struct{} // told of every opening
	hold      chan struct{} // when not nil, openings wait until it is closed
	holdClose chan struct{} // and closings

	mu      sync.Mutex
	taken   int
	calls   []string
	repeats int
	opens   []*protocol.OpenSession
	fail    *protocol.Error // of the next open
}

func newWire() *wire {
	return &wire{frames: make(chan protocol.Frame), closed: make(chan struct{}), opened: make(chan struct{}, 100)}
}

func (w *wire) Call(ctx context.Context, c protocol.Call) (protocol.Reply, error) {
	select {
	case <-w.closed:
		return protocol.Reply{}, io.ErrClosedPipe
	default:
	}
	if r, ok := c.Request.(*protocol.OpenSession); ok {
		w.mu.Lock()
		w.opens = append(w.opens, r)
		w.mu.Unlock()
		w.opened <- struct{}{}
		if w.hold != nil {
			select {
			case <-w.hold:
			case <-ctx.Done():
				w.mu.Lock()
				w.calls = append(w.calls, c.Request.Spec().Name)
				w.mu.Unlock()
				return protocol.Reply{}, ctx.Err()
			}
		}
	}
	if _, ok := c.Request.(*protocol.CloseSession); ok && w.holdClose != nil {
		<-w.holdClose
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c.Request.Spec().Name)
	if c.Repeat {
		w.repeats++
	}
	switch c.Request.(type) {
	case *protocol.OpenSession:
		if w.fail != nil {
			return protocol.Reply{RequestID: c.RequestID, Err: w.fail}, nil
		}
		return protocol.Reply{RequestID: c.RequestID, Data: &protocol.SessionOpened{ReadOnly: string(c.SessionID)}}, nil
	}
	return protocol.Reply{RequestID: c.RequestID, Data: &protocol.Done{}}, nil
}

func (w *wire) Recv(ctx context.Context) (protocol.Frame, error) {
	select {
	case f, ok := <-w.frames:
		if !ok {
			return nil, io.EOF
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.taken++
		return f, nil
	case <-w.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

func started(id protocol.SessionID, seq protocol.Seq) *protocol.EventsFrame {
	e := protocol.NewEvent(&protocol.TurnStart{TurnIndex: int(seq)})
	e.Seq = seq
	return &protocol.EventsFrame{SessionID: id, Events: []protocol.Event{e}}
}

func open(t *testing.T, c *Client, id protocol.SessionID) *Session {
	t.Helper()
	s, err := c.Open(t.Context(), id, 7)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFramesReachTheirSubscriptionInOrder(t *testing.T) {
	w := newWire()
	c := New(w)
	defer c.Close()
	a, b := open(t, c, one), open(t, c, two)
	w.frames <- &protocol.ResyncFrame{SessionID: one, Mode: protocol.FullReload}
	w.frames <- &protocol.ResyncFrame{SessionID: two, Mode: protocol.FullReload}
	if a.Opened.ReadOnly != string(one) {
		t.Errorf("opened: %+v", a.Opened)
	}
	w.frames <- &protocol.LiveFrame{SessionID: one, Live: protocol.Live{ThroughSeq: 4, Running: true}}
	w.frames <- &protocol.LiveFrame{SessionID: two}
	w.frames <- started(two, 1)
	w.frames <- started(one, 5)
	w.frames <- started("ses_00000000000000000000000009", 7) // nobody's
	w.frames <- started(one, 6)
	if u, err := a.Next(t.Context()); err != nil || !u.Fresh || !a.Live.Running {
		t.Errorf("the first update: %+v %v", u, err)
	}
	for want := protocol.Seq(5); want < 7; want++ {
		if u, err := a.Next(t.Context()); err != nil || u.Events[0].Seq != want || a.Live.ThroughSeq != want {
			t.Errorf("an update: %+v %v, state through %d", u, err, a.Live.ThroughSeq)
		}
	}
	if u, err := b.Next(t.Context()); err != nil || !u.Fresh || u.Resync != protocol.FullReload {
		t.Errorf("the other subscription begins with %+v %v", u, err)
	}
	if u, err := b.Next(t.Context()); err != nil || u.Events[0].Seq != 1 || b.Live.TurnIndex != 1 {
		t.Errorf("the other subscription: %+v %v", u, err)
	}
}

func TestASessionIsOpenOnceAClient(t *testing.T) {
	w := newWire()
	c := New(w)
	defer c.Close()
	s := open(t, c, one)
	var pe *protocol.Error
	if _, err := c.Open(t.Context(), one, 0); !errors.As(err, &pe) || pe.Code != protocol.CodeInvalidRequest {
		t.Errorf("a second open: %v", err)
	}
	for range 2 {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("next of a closed one: %v", err)
	}
	open(t, c, one)
	w.fail = protocol.Errorf(protocol.CodeSessionLocked, "In use.")
	for range 2 { // a failed open leaves nothing
		if _, err := c.Open(t.Context(), two, 0); !errors.As(err, &pe) || pe.Code != protocol.CodeSessionLocked {
			t.Errorf("an open that fails: %v", err)
		}
	}
	if n := len(w.calls); w.calls[1] != "close_session" || n != 5 {
		t.Errorf("requests: %v", w.calls)
	}
}

func TestTheEndOfAHostComesBehindWhatItSent(t *testing.T) {
	w := newWire()
	c := New(w)
	defer c.Close()
	s := open(t, c, one)
	w.frames <- &protocol.ResyncFrame{SessionID: one, Mode: protocol.FullReload}
	w.frames <- &protocol.LiveFrame{SessionID: one}
	w.frames <- started(one, 1)
	close(w.frames)
	<-c.done
	if u, err := s.Next(t.Context()); err != nil || !u.Fresh {
		t.Errorf("the state: %+v %v", u, err)
	}
	if u, err := s.Next(t.Context()); err != nil || len(u.Events) != 1 {
		t.Errorf("what was sent: %+v %v", u, err)
	}
	if _, err := s.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("the end: %v", err)
	}
	if _, err := c.Open(t.Context(), two, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("open: %v", err)
	}
}

func TestASessionThatTheHostClosesSaysWhy(t *testing.T) {
	w := newWire()
	c := New(w)
	defer c.Close()
	s := open(t, c, one)
	w.frames <- &protocol.ResyncFrame{SessionID: one, Mode: protocol.FullReload}
	w.frames <- &protocol.SessionClosed{SessionID: one, Err: protocol.Errorf(protocol.CodeStorageError, "Gone.")}
	var pe *protocol.Error
	if _, err := s.Next(t.Context()); !errors.As(err, &pe) || pe.Code != protocol.CodeStorageError {
		t.Errorf("next: %v", err)
	}
}

func TestASlowReaderHoldsAFewFramesAndNoRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		c := New(w)
		s := open(t, c, one)
		w.frames <- &protocol.ResyncFrame{SessionID: one, Mode: protocol.FullReload}
		w.frames <- &protocol.LiveFrame{SessionID: one}
		sent := 0
		go func() {
			for i := range 100 {
				select {
				case w.frames <- started(one, protocol.Seq(i+1)):
					sent++
				case <-w.closed:
					return
				}
			}
		}()
		synctest.Wait()
		if sent > frameBuffer+1 {
			t.Errorf("%d frames were taken of a subscription that nobody reads", sent)
		}
		if _, err := Call[*protocol.Done](t.Context(), c, one, &protocol.Ping{}); err != nil {
			t.Errorf("a request: %v", err)
		}
		if u, err := s.Next(t.Context()); err != nil || !u.Fresh {
			t.Errorf("the state: %+v %v", u, err)
		}
		if u, err := s.Next(t.Context()); err != nil || u.Events[0].Seq != 1 {
			t.Errorf("next: %+v %v", u, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if _, err := Call[*protocol.Done](t.Context(), c, one, &protocol.Ping{}); err == nil {
			t.Error("a request of a closed client was answered")
		}
	})
}

func TestAnAnswerOfAnotherTypeIsAnError(t *testing.T) {
	c := New(newWire())
	defer c.Close()
	if _, err := Call[*protocol.Sent](t.Context(), c, one, &protocol.Ping{}); err == nil {
		t.Error("it passed")
	}
}
