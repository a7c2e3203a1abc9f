package lane

import (
	"context"
	"time"

	"scorel/internal/engine/runtime"
	"scorel/protocol"
)

// errStopping refuses a turn while the host comes to its end.
func errStopping() error {
	return protocol.Errorf(protocol.CodeRuntimeBusy, "The host is stopping; send again when it is back.")
}

// Drain lets no further turn begin, and has the running one end at its next step
// border: the message and the results of its step are complete by then, and what
// waits in the queues stays there. A turn that waits for a person, or to try its
// model again, is ended at once. The channel is closed when no turn runs; what a
// client queues until then is kept.
func (l *Lane) Drain() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopping = true
	if l.turn == nil {
		done := make(chan struct{})
		close(done)
		return done
	}
	if l.waitsForPeople() || l.turn.waits {
		l.turn.cancel(errHostStops)
	}
	return l.turn.done
}

// Stop ends the running turn where it is, because its host ends. It does not wait.
func (l *Lane) Stop() {
	if t := l.running.Load(); t != nil {
		t.cancel(errHostStops)
	}
}

// errHostStops cancels a turn because its host ends.
var errHostStops = runtime.ErrHostStops

// stops ends the turn when its host is stopping, and says so: nothing of it is in
// the middle now.
func (h *turnHost) stops() bool {
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if h.l.stopping {
		h.t.cancel(errHostStops)
	}
	return h.l.stopping
}

// sleep is the wait of a turn before it tries its model again.
func (h *turnHost) sleep(ctx context.Context, d time.Duration) error {
	set := func(waits bool) {
		h.l.mu.Lock()
		defer h.l.mu.Unlock()
		if h.t.waits = waits; waits && h.l.stopping {
			h.t.cancel(errHostStops)
		}
	}
	set(true)
	defer set(false)
	if h.l.cfg.Sleep != nil {
		return h.l.cfg.Sleep(ctx, d)
	}
	return runtime.Sleep(ctx, d)
}
