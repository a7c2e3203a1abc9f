package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/platform/fault"
	"scorel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is one that does as it is told.
type server struct {
	call   func(ctx context.Context) (*connect.Answer, error)
	tools  func() ([]connect.Tool, error)
	fresh  time.Duration // how long the tools count
	hangs  bool          // when it is asked for its prompts
	lists  func()        // is called when it is asked for them
	fault  error         // has ended it
	ended  chan struct{}
	once   sync.Once
	closed atomic.Bool
}

func newServer() *server { return &server{ended: make(chan struct{})} }

func (s *server) Tools(context.Context) ([]connect.Tool, []string, error) {
	if s.tools == nil {
		return []connect.Tool{{Name: "mcp__s__a", Own: "a"}}, nil, nil
	}
	tools, err := s.tools()
	return tools, nil, err
}

func (s *server) Call(ctx context.Context, _ connect.Call) (*connect.Answer, error) {
	if s.call == nil {
		return &connect.Answer{}, nil
	}
	return s.call(ctx)
}
func (s *server) Lists(ctx context.Context) (connect.Lists, []string) {
	if s.hangs {
		<-ctx.Done()
	}
	if s.lists != nil {
		s.lists()
	}
	return connect.Lists{Prompts: []connect.Prompt{{Own: "p"}}}, nil
}
func (*server) Prompt(context.Context, connect.Call, map[string]string) ([]connect.Message, error) {
	return nil, nil
}
func (*server) Complete(context.Context, connect.Partial) []string { return nil }
func (s *server) Resource(ctx context.Context, c connect.Call) (*connect.Answer, error) {
	return s.Call(ctx, c)
}
func (s *server) Subscribe(context.Context, string)   {}
func (s *server) Fresh() (tools, lists time.Duration) { return s.fresh, 0 }
func (*server) Title() string                         { return "a server" }
func (*server) Instructions() string                  { return "" }
func (*server) Log() string                           { return "the log" }
func (*server) Nonsense() string                      { return "" }
func (s *server) Done() <-chan struct{}               { return s.ended }
func (s *server) end()                                { s.once.Do(func() { close(s.ended) }) }
func (s *server) Fault() error                        { return s.fault }
func (s *server) Close()                              { s.closed.Store(true); s.end() }

// faults counts the panics that were caught.
type faults struct{ caught atomic.Int32 }

func (*faults) Watch(*fault.Shared) {}
func (f *faults) Caught(_ protocol.SessionID, _ string, p *fault.Panic) {
	if len(p.Stack) > 0 {
		f.caught.Add(1)
	}
}

// world counts what is opened, and opens what next gives.
type world struct {
	mu     sync.Mutex
	opened []*server
	times  []time.Duration
	next   func(n int) (*server, error)
	began  time.Time
	hears  Hears // of the last
}

func (w *world) open(_ context.Context, h Hears) (Server, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hears = h
	w.times = append(w.times, time.Since(w.began))
	s, err := newServer(), error(nil)
	if w.next != nil {
		s, err = w.next(len(w.times))
	}
	if err != nil {
		return nil, err
	}
	w.opened = append(w.opened, s)
	return s, nil
}

func (w *world) spec(name string, remote bool) Spec {
	return Spec{Key: Key{Entry: name, Root: "/w"}, Remote: remote, Open: w.open}
}

// in runs a test on a clock of its own.
func in(t *testing.T, do func(t *testing.T, p *Pool, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		p := New(&faults{})
		p.jitter = func() float64 { return 1 }
		do(t, p, &world{began: time.Now()})
		p.Close()
	})
}

func acquire(t *testing.T, p *Pool, s Spec, changed func()) *Lease {
	t.Helper()
	l, err := p.Acquire(s, changed)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestSessionsShareAConnectionWhichGoesFiveMinutesAfterTheLast(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		one, two := acquire(t, p, w.spec("a", false), nil), acquire(t, p, w.spec("a", false), nil)
		other := acquire(t, p, w.spec("b", false), nil)
		synctest.Wait()
		if w.connections() != 2 {
			t.Errorf("%d connections", w.connections())
		}
		if s := two.Status(); s.State != Connected || len(s.Tools) != 1 || s.Title != "a server" || s.Log != "the log" {
			t.Errorf("%+v", s)
		}
		other.Release()
		one.Release()
		one.Release()
		time.Sleep(idleTime + time.Second)
		if p.Len() != 1 {
			t.Errorf("%d connections are open", p.Len())
		}
		two.Release()
		time.Sleep(idleTime - time.Second)
		three := acquire(t, p, w.spec("a", false), nil)
		time.Sleep(time.Hour)
		if p.Len() != 1 || w.connections() != 2 {
			t.Errorf("who comes back in time gets a new one: %d, %d", p.Len(), w.connections())
		}
		three.Release()
		time.Sleep(idleTime + time.Second)
		if p.Len() != 0 || slices.ContainsFunc(w.opened, func(s *server) bool { return !s.closed.Load() }) {
			t.Errorf("%d connections are open", p.Len())
		}
	})
}

func TestAProcessThatEndedIsStartedAgainByTheNextCallAndOnlyOnce(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		w.next = func(n int) (*server, error) {
			if n == 3 {
				return nil, errors.New("it does not start")
			}
			return newServer(), nil
		}
		l := acquire(t, p, w.spec("a", false), nil)
		synctest.Wait()
		w.opened[0].end()
		time.Sleep(time.Hour)
		if s := l.Status(); s.State != Failed || s.Problem != errExited.Error() || s.Log != "the log" || len(w.times) != 1 {
			t.Errorf("it has ended: %+v after %d starts", s, len(w.times))
		}
		if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); err != nil || len(w.times) != 2 {
			t.Errorf("%v after %d starts", err, len(w.times))
		}
		w.opened[1].end()
		synctest.Wait()
		if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); err == nil || err.Error() != "it does not start" || len(w.times) != 3 {
			t.Errorf("%v after %d starts", err, len(w.times))
		}
		l.Reconnect()
		if err := l.Settled(t.Context()); err != nil || l.Status().State != Connected {
			t.Errorf("%v, %+v", err, l.Status())
		}
	})
}

func TestAnAddressIsTriedSlowerAndSlowerAndThenNoMore(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		w.next = func(int) (*server, error) { return nil, errors.New("it does not answer") }
		l := acquire(t, p, w.spec("a", true), nil)
		time.Sleep(time.Hour)
		if s := l.Status(); s.State != Failed || s.Problem != "it does not answer" {
			t.Errorf("%+v", s)
		}
		if want := []time.Duration{0, 1e9, 3e9, 7e9, 15e9}; !slices.Equal(w.times, want) {
			t.Errorf("tried at %v", w.times)
		}
		if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); err == nil || len(w.times) != attempts {
			t.Errorf("a call: %v, %d", err, len(w.times))
		}
		w.next = nil
		l.Reconnect()
		synctest.Wait()
		if s := l.Status(); s.State != Connected {
			t.Errorf("%+v", s)
		}
		w.opened[0].end()
		time.Sleep(time.Minute)
		if s := l.Status(); s.State != Connected || w.connections() != 2 {
			t.Errorf("it ended and comes back by itself: %+v", s)
		}
	})
}

func TestWhoseSignInIsMissingIsNotTriedAgain(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		w.next = func(int) (*server, error) { return nil, connect.ErrNeedsAuth }
		l := acquire(t, p, w.spec("a", true), nil)
		time.Sleep(time.Hour)
		if s := l.Status(); s.State != NeedsAuth || len(w.times) != 1 {
			t.Errorf("%+v", s)
		}
		if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); !errors.Is(err, connect.ErrNeedsAuth) {
			t.Errorf("%v", err)
		}
		w.next = func(int) (*server, error) {
			s := newServer()
			s.call = func(context.Context) (*connect.Answer, error) { return nil, connect.ErrNeedsAuth }
			return s, nil
		}
		l.Reconnect()
		if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); !errors.Is(err, connect.ErrNeedsAuth) {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		if s := l.Status(); s.State != NeedsAuth || !w.opened[0].closed.Load() {
			t.Errorf("the sign-in ended in a call: %+v", s)
		}
	})
}

// Between the call that finds the sign-in ended and the end of the connection, the lists of
// the server come.
func TestListsThatComeLateDoNotHideThatASignInIsMissing(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		come := make(chan struct{})
		w.next = func(int) (*server, error) {
			s := newServer()
			s.lists = func() { <-come }
			s.call = func(context.Context) (*connect.Answer, error) { return nil, connect.ErrNeedsAuth }
			return s, nil
		}
		var lease atomic.Pointer[Lease]
		var told atomic.Bool // no lock: who holds the connection may be about to tell, too
		l := acquire(t, p, w.spec("a", true), func() {
			if l := lease.Load(); l != nil && l.Status().State == NeedsAuth && told.CompareAndSwap(false, true) {
				close(come)
				time.Sleep(time.Second)
			}
		})
		lease.Store(l)
		if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); !errors.Is(err, connect.ErrNeedsAuth) {
			t.Errorf("%v", err)
		}
		time.Sleep(2 * time.Second) // whoever tells of it may be at it
		synctest.Wait()
		if s := l.Status(); s.State != NeedsAuth || w.connections() != 1 || !w.opened[0].closed.Load() {
			t.Errorf("%d connections, %+v", w.connections(), s)
		}
	})
}

func TestACallIsSentOnceAndThreeThatBreakOffMakeANewConnection(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		calls := 0
		w.next = func(n int) (*server, error) {
			s := newServer()
			if n == 1 {
				s.call = func(context.Context) (*connect.Answer, error) {
					calls++
					return nil, fmt.Errorf("it broke off; %w", connect.ErrUnknownEffect)
				}
			}
			return s, nil
		}
		l := acquire(t, p, w.spec("a", true), nil)
		for i := range maxBroken {
			if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); !errors.Is(err, connect.ErrUnknownEffect) || calls != i+1 {
				t.Errorf("%v after %d calls", err, calls)
			}
		}
		if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); err != nil || w.connections() != 2 {
			t.Errorf("%v, %d connections", err, w.connections())
		}
	})
}

func TestACallThatWasNotSentIsSentOverANewConnection(t *testing.T) {
	for _, remote := range []bool{false, true} {
		in(t, func(t *testing.T, p *Pool, w *world) {
			w.next = func(n int) (*server, error) {
				s := newServer()
				if n == 1 {
					s.call = func(context.Context) (*connect.Answer, error) { s.end(); return nil, connect.ErrNotSent }
				}
				return s, nil
			}
			l := acquire(t, p, w.spec("a", remote), nil)
			if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); err != nil || w.connections() < 2 {
				t.Errorf("%v, %d connections", err, w.connections())
			}
		})
	}
}

func TestTheFirstTryIsWaitedForAndNotTheOthers(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		w.next = func(int) (*server, error) { return nil, errors.New("it does not answer") }
		l := acquire(t, p, w.spec("a", true), nil)
		began := time.Now()
		if err := l.Settled(t.Context()); err != nil || time.Since(began) > 0 || l.Status().Problem != "it does not answer" {
			t.Errorf("%v after %v: %+v", err, time.Since(began), l.Status())
		}
	})
}

func TestChangesOfTheToolsAreReadAndTold(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, _ *world) {
		s := newServer()
		var n, told atomic.Int32
		var fails atomic.Bool
		s.tools = func() ([]connect.Tool, error) {
			if fails.Load() {
				return nil, errors.New("it answers with an error: no")
			}
			return make([]connect.Tool, n.Add(1)), nil
		}
		var change func()
		l := acquire(t, p, Spec{Key: Key{Entry: "a"}, Open: func(_ context.Context, h Hears) (Server, error) { change = h.Tools; return s, nil }}, func() { told.Add(1) })
		synctest.Wait()
		change()
		change()
		synctest.Wait()
		if got := l.Status(); len(got.Tools) < 2 || told.Load() < 2 {
			t.Errorf("%+v, told %d times", got, told.Load())
		}
		fails.Store(true)
		change()
		synctest.Wait()
		if got := l.Status(); got.State != Connected || len(got.Tools) != 0 || !strings.Contains(strings.Join(got.Faults, ""), "its tools are not known: it answers with an error: no") {
			t.Errorf("%+v", got)
		}
	})
}

func TestOnlyAFewProcessesAreStartedAtOnce(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, _ *world) {
		var now, most atomic.Int32
		open := func(ctx context.Context, _ Hears) (Server, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			return newServer(), ctx.Err()
		}
		for i := range 20 {
			acquire(t, p, Spec{Key: Key{Entry: fmt.Sprint(i)}, Open: open}, nil)
		}
		time.Sleep(20 * time.Second)
		if most.Load() != localAtOnce {
			t.Errorf("%d at once", most.Load())
		}
	})
}

func TestThereIsAMostOfConnectionsAndNoneAfterTheEnd(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		for i := range maxConnections {
			acquire(t, p, w.spec(fmt.Sprint(i), true), nil)
		}
		if _, err := p.Acquire(w.spec("more", true), nil); err == nil || !strings.Contains(err.Error(), "256 connections") {
			t.Errorf("%v", err)
		}
		hang := New(&faults{})
		l := acquire(t, hang, Spec{Key: Key{Entry: "hang"}, Open: func(ctx context.Context, _ Hears) (Server, error) { <-ctx.Done(); return nil, ctx.Err() }}, nil)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Call(ctx, connect.Call{Tool: "a"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		hang.Close()
		if _, err := hang.Acquire(w.spec("late", true), nil); !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}

// TestAServerThatAsksGetsAConnectionASession: once nobody knew to which session a question
// belongs, each has a connection of its own, from its next call on.
func TestAServerThatAsksGetsAConnectionASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(&faults{})
		defer p.Close()
		opened := 0
		var crowded func()
		spec := func(owner string) Spec {
			return Spec{Key: Key{Entry: "a", Root: "/w"}, Owner: owner, Open: func(_ context.Context, h Hears) (Server, error) {
				opened++
				crowded = h.Crowded
				return newServer(), nil
			}}
		}
		one, two := acquire(t, p, spec("one"), nil), acquire(t, p, spec("two"), nil)
		call := func(l *Lease) {
			t.Helper()
			if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); err != nil {
				t.Error(err)
			}
		}
		call(one)
		call(two)
		if opened != 1 || p.Len() != 1 {
			t.Errorf("%d connections were opened", opened)
		}
		crowded()
		call(one)
		call(two)
		call(one)
		if opened != 3 || p.Len() != 3 {
			t.Errorf("%d connections were opened, and there are %d", opened, p.Len())
		}
		time.Sleep(idleTime + time.Second)
		if p.Len() != 2 {
			t.Errorf("there are %d connections: the shared one is used by nobody", p.Len())
		}
		three := acquire(t, p, spec("three"), nil)
		call(three)
		if opened != 4 {
			t.Errorf("%d connections were opened", opened)
		}
		for _, l := range []*Lease{one, two, three} {
			l.Release()
			l.Release()
		}
		time.Sleep(idleTime + time.Second)
		if p.Len() != 0 {
			t.Errorf("there are %d connections", p.Len())
		}
	})
}

func TestACallThatWasNotSentLeavesANewerConnectionAlone(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		late := make(chan struct{}) // the second call learns of the end of its session
		calls := 0
		w.next = func(n int) (*server, error) {
			s := newServer()
			if n == 1 {
				s.call = func(context.Context) (*connect.Answer, error) {
					if calls++; calls == 1 {
						<-late
					}
					return nil, connect.ErrNotSent
				}
			}
			return s, nil
		}
		l := acquire(t, p, w.spec("a", true), nil)
		ended := make(chan error, 1)
		go func() {
			_, err := l.Call(t.Context(), connect.Call{Tool: "a"})
			ended <- err
		}()
		synctest.Wait()
		if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); err != nil {
			t.Fatal(err)
		}
		close(late)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if w.connections() != 2 || w.opened[1].closed.Load() {
			t.Errorf("%d connections; the second one, which works, is closed: %v", w.connections(), w.opened[1].closed.Load())
		}
	})
}
