package pool

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/engine/mcp/connect"
)

func TestToolsAreThereWhileAServerKeepsItsPromptsToItself(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		w.next = func(int) (*server, error) { s := newServer(); s.hangs = true; return s, nil }
		l := acquire(t, p, w.spec("a", false), nil)
		synctest.Wait()
		if s := l.Status(); s.State != Connected || len(s.Tools) != 1 || s.Listed {
			t.Errorf("%+v", s)
		}
		if _, err := l.Call(t.Context(), connect.Call{Tool: "a"}); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Listed(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the lists: %v", err)
		}
		l.Reconnect()
		synctest.Wait()
		if w.connections() != 2 || !w.opened[0].closed.Load() {
			t.Errorf("%d connections were opened", w.connections())
		}
	})
}

func TestListsAreReadAgainWhenTheTimeOfTheServerForThemHasEnded(t *testing.T) {
	in(t, func(t *testing.T, p *Pool, w *world) {
		var n atomic.Int32
		w.next = func(int) (*server, error) {
			s := newServer()
			s.fresh = time.Hour
			s.tools = func() ([]connect.Tool, error) { return make([]connect.Tool, n.Add(1)), nil }
			return s, nil
		}
		l := acquire(t, p, w.spec("a", false), nil)
		synctest.Wait()
		if err := l.Listed(t.Context()); err != nil || len(l.Status().Lists.Prompts) != 1 {
			t.Errorf("%v, %+v", err, l.Status())
		}
		time.Sleep(2*time.Hour + time.Minute)
		if got := len(l.Status().Tools); got != 3 {
			t.Errorf("they were read %d times in two hours", got)
		}
	})
}
