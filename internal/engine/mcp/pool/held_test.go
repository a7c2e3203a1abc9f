package pool

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"scorel/internal/engine/mcp/connect"
)

func TestAConnectionThatIsHeldBackIsBegunByWhoNeedsItOrSoon(t *testing.T) {
	for name, begins := range map[string]func(ctx context.Context, l *Lease){
		"Begin":     func(ctx context.Context, l *Lease) { l.Begin() },
		"a wait":    func(ctx context.Context, l *Lease) { _ = l.Settled(ctx) },
		"a call":    func(ctx context.Context, l *Lease) { _, _ = l.Call(ctx, connect.Call{}) },
		"a person":  func(ctx context.Context, l *Lease) { l.Reconnect() },
		"time":      func(context.Context, *Lease) { time.Sleep(heldTime) },
		"a session": nil,
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, p *Pool, w *world) {
				spec := w.spec("a", false)
				spec.Held = true
				l := acquire(t, p, spec, func() {})
				time.Sleep(heldTime / 2)
				synctest.Wait()
				if w.tried() != 0 || l.Status().State != Pending {
					t.Fatalf("it was begun: %d times, %v", w.tried(), l.Status())
				}
				if begins != nil {
					begins(t.Context(), l)
				} else { // that does not hold it back
					spec.Held = false
					acquire(t, p, spec, func() {})
				}
				synctest.Wait()
				if w.tried() != 1 || l.Status().State != Connected {
					t.Errorf("it was begun %d times and is %v", w.tried(), l.Status().State)
				}
			})
		})
	}
	in(t, func(t *testing.T, p *Pool, w *world) { // who goes before it is begun begins none
		spec := w.spec("a", false)
		spec.Held, spec.Brief = true, true
		acquire(t, p, spec, func() {}).Release()
		time.Sleep(2 * heldTime)
		if w.tried() != 0 {
			t.Error("a connection that nobody uses was begun")
		}
	})
}

// connections returns how many were made.
func (w *world) connections() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.opened)
}

// tried returns how often a connection was begun.
func (w *world) tried() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.times)
}
