package pool

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"scorel/internal/engine/mcp/connect"
	"scorel/internal/platform/fault"
)

func TestAPanicOfAConnectionFailsItAndTheNextCallMakesANewOne(t *testing.T) {
	for name, breaks := range map[string]func(w *world){
		"while it is opened": func(w *world) {
			w.next = func(n int) (*server, error) {
				if n == 1 {
					panic("half open")
				}
				return newServer(), nil
			}
		},
		"while its tools are read": func(w *world) {
			w.next = func(n int) (*server, error) {
				s := newServer()
				if n == 1 {
					s.tools = func() ([]connect.Tool, error) { panic("half a list") }
				}
				return s, nil
			}
		},
		"while its other lists are read": func(w *world) {
			w.next = func(n int) (*server, error) {
				s := newServer()
				if n == 1 {
					s.lists = func() { panic("half a list") }
				}
				return s, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, p *Pool, w *world) {
				breaks(w)
				told := 0
				l := acquire(t, p, w.spec("a", false), func() { told++ })
				synctest.Wait()
				s := l.Status()
				if s.State != Failed || !strings.HasPrefix(s.Problem, "its connection is given up after a fault inside Scorel: half") || told == 0 {
					t.Fatalf("after it: %+v, told %d times", s, told)
				}
				if caught := p.guard.(*faults).caught.Load(); caught != 1 {
					t.Errorf("the guard was told of %d panics", caught)
				}
				if w.connections() > 0 && !w.opened[0].closed.Load() {
					t.Error("the server is still open")
				}
				if _, err := l.Call(t.Context(), connect.Call{}); err != nil {
					t.Errorf("the next call: %v", err)
				}
				synctest.Wait()
				if s := l.Status(); s.State != Connected || s.Problem != "" {
					t.Errorf("after the next call: %+v", s)
				}
			})
		})
	}
}

func TestAPanicWhileAChangedListIsReadFailsTheConnection(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		reads := 0
		w.next = func(int) (*server, error) {
			s := newServer()
			s.tools = func() ([]connect.Tool, error) {
				if reads++; reads == 2 {
					panic("half a list")
				}
				return nil, nil
			}
			return s, nil
		}
		l := acquire(t, p, w.spec("a", false), nil)
		synctest.Wait()
		w.hears.Tools()
		synctest.Wait()
		if s := l.Status(); s.State != Failed || !strings.Contains(s.Problem, "half a list") || !w.opened[0].closed.Load() {
			t.Errorf("%+v", s)
		}
	})
}

func TestAServerThatAPanicHasEndedIsShownWithIt(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		l := acquire(t, p, w.spec("a", false), nil)
		synctest.Wait()
		w.opened[0].fault = connect.Broken(&fault.Panic{Value: "half read"})
		w.opened[0].end()
		synctest.Wait()
		if s := l.Status(); s.State != Failed || s.Problem != "its connection is given up after a fault inside Scorel: half read" {
			t.Errorf("%+v", s)
		}
	})
}

func TestAPanicOfWhoIsToldLeavesTheConnectionToTheOthers(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		both := make(chan struct{})
		w.next = func(int) (*server, error) {
			<-both
			return newServer(), nil
		}
		broken := acquire(t, p, w.spec("a", false), func() { panic("half told") })
		told := 0
		spec := w.spec("a", false)
		spec.Updated = func(string) { panic("half told") }
		l := acquire(t, p, spec, func() { told++ })
		close(both)
		synctest.Wait()
		w.hears.Updated("notes://all")
		if s := l.Status(); s.State != Connected || told == 0 || p.guard.(*faults).caught.Load() < 2 {
			t.Errorf("%+v, told %d times", s, told)
		}
		broken.Release()
		if _, err := l.Call(context.Background(), connect.Call{}); errors.Is(err, connect.ErrNotSent) {
			t.Error(err)
		}
	})
}
