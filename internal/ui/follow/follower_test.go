package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"scorel/client"
	"scorel/protocol"
)

const session = protocol.SessionID("ses_06gvgpgd01lecu1v9uuui6ren2")

// hosted is a connection to a host that sends what a test says.
type hosted struct {
	frames chan protocol.Frame
	closed chan struct{}
}

func (h *hosted) Call(_ context.Context, c protocol.Call) (protocol.Reply, error) {
	return protocol.Reply{RequestID: c.RequestID, Data: &protocol.SessionOpened{}}, nil
}

func (h *hosted) Recv(ctx context.Context) (protocol.Frame, error) {
	select {
	case f := <-h.frames:
		return f, nil
	case <-h.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (h *hosted) Close() error {
	select {
	case <-h.closed:
	default:
		close(h.closed)
	}
	return nil
}

// open opens a session at a host that sends what the test says.
func open(t *testing.T) (*client.Session, *hosted) {
	t.Helper()
	h := &hosted{frames: make(chan protocol.Frame), closed: make(chan struct{})}
	c := client.New(h)
	t.Cleanup(func() { _ = c.Close() })
	s, err := c.Open(t.Context(), session, 0)
	if err != nil {
		t.Fatal(err)
	}
	h.frames <- &protocol.ResyncFrame{SessionID: session, Mode: protocol.FullReload}
	h.frames <- &protocol.LiveFrame{SessionID: session, Live: protocol.Live{StreamEpoch: "epo_1"}}
	return s, h
}

// send sends events, each in a frame of its own.
func (h *hosted) send(events ...protocol.Event) {
	for _, e := range events {
		h.frames <- &protocol.EventsFrame{SessionID: session, Events: []protocol.Event{e}}
	}
}

// numbered makes an event.
func numbered(seq int, body protocol.Body) protocol.Event {
	e := protocol.NewEvent(body)
	if e.Seq = protocol.Seq(seq); !e.IsTransient() {
		e.ID = protocol.EventID(fmt.Sprintf("evt_%016d", seq))
	}
	return e
}

func delta(seq int) protocol.Event { return numbered(seq, &protocol.TextDelta{Delta: "x"}) }

// noted notes what a view is shown.
type noted struct {
	log  []string
	stop int // ends the run at this event
}

func (n *noted) add(format string, args ...any) { n.log = append(n.log, fmt.Sprintf(format, args...)) }

func (n *noted) Update(u *client.Update) error {
	if u.Fresh {
		n.add("state")
	}
	for _, e := range u.Events {
		n.add("%d", e.Seq)
		if int(e.Seq) == n.stop {
			return ErrStop
		}
	}
	return nil
}

func (n *noted) Interrupt(sig os.Signal) error {
	n.add("%v", sig)
	return nil
}

func (n *noted) want(t *testing.T, log string) {
	t.Helper()
	if got := strings.Join(n.log, " "); got != log {
		t.Errorf("shown: %.300s\nwant: %.300s", got, log)
	}
}

func TestUpdatesWaitForTheAnswerOfARequestButNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := open(t)
		v := &noted{stop: 5}
		f := New(Config{Session: s, View: v})
		answer := make(chan struct{})
		f.Ask(t.Context(), func(context.Context) error { <-answer; return nil }, func(error) error { v.add("answered"); return nil })
		go func() {
			h.send(delta(1), numbered(2, &protocol.Notice{Level: "info", Text: "it works"}), delta(3))
			synctest.Wait()
			close(answer)
			synctest.Wait()
			h.send(delta(4), delta(5))
		}()
		if err := f.Run(t.Context()); err != nil {
			t.Errorf("the run failed: %v", err)
		}
		v.want(t, "2 answered state 1 3 4 5")
	})
}

func TestNothingIsDroppedWhileAnAnswerTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := open(t)
		v := &noted{stop: maxHeld + 100}
		f := New(Config{Session: s, View: v})
		answer := make(chan struct{})
		f.Ask(t.Context(), func(context.Context) error { <-answer; return nil }, func(error) error { return nil })
		go func() {
			go func() {
				synctest.Wait()
				if len(v.log) > 0 {
					t.Errorf("shown before the answer: %v", v.log)
				}
				close(answer)
			}()
			for seq := range maxHeld + 100 {
				h.send(delta(seq + 1))
			}
		}()
		if err := f.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(f.held) > 0 || len(v.log) != maxHeld+101 {
			t.Errorf("%d are shown, %d wait", len(v.log), len(f.held))
		}
		for i, text := range v.log[1:] {
			if text != fmt.Sprint(i+1) {
				t.Fatalf("in the place of %d comes %s", i+1, text)
			}
		}
	})
}

func TestAnAnswerComesBeforeTheEndOfTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := open(t)
		v := &noted{}
		f := New(Config{Session: s, View: v})
		f.Ask(t.Context(), func(context.Context) error {
			synctest.Wait() // the state has come
			_ = h.Close()
			synctest.Wait()
			return errors.New("refused")
		}, func(err error) error { v.add("%v", err); return nil })
		if err := f.Run(t.Context()); !errors.Is(err, client.ErrClosed) {
			t.Errorf("the run ends with %v", err)
		}
		v.want(t, "refused state")
	})
}

func TestEverythingIsHandledByOneGoroutineUntilStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := open(t)
		v := &noted{}
		signals := make(chan os.Signal)
		f := New(Config{Session: s, View: v, Signals: signals})
		go func() {
			h.send(delta(1))
			synctest.Wait()
			signals <- os.Interrupt
			f.Post(t.Context(), func() error { v.add("posted"); return nil })
			f.Post(t.Context(), func() error { return fmt.Errorf("that is all: %w", ErrStop) })
		}()
		if err := f.Run(t.Context()); err != nil {
			t.Errorf("the run failed: %v", err)
		}
		v.want(t, "state 1 interrupt posted")
	})
}

func TestAFailureOfWhatIsCalledEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t)
		broken := errors.New("no space left")
		ticks := 0
		f := New(Config{Session: s, View: &noted{}, Tick: func() error {
			if ticks++; ticks == 3 {
				return broken
			}
			return nil
		}})
		if err := f.Run(t.Context()); !errors.Is(err, broken) || ticks != 3 {
			t.Errorf("after %d ticks the run ends with %v", ticks, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if f.Post(ctx, func() error { return nil }) {
			t.Error("something is posted to a run that has ended")
		}
	})
}
