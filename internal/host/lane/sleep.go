package lane

import (
	"context"
	"time"

	"scorel/internal/engine/runtime"
)

// stops ends the turn when its host is stopping, and reports that: nothing of it is in the
// middle now.
func (h *turnHost) stops() bool {
	h.l.j.Lock()
	defer h.l.j.Unlock()
	if h.l.course.stopping {
		h.t.cancel(errHostStops)
	}
	return h.l.course.stopping
}

// sleep is the wait of a turn before it tries its model again.
func (h *turnHost) sleep(ctx context.Context, d time.Duration) error {
	h.setWaits(true)
	defer h.setWaits(false)
	if h.l.cfg.Sleep != nil {
		return h.l.cfg.Sleep(ctx, d)
	}
	return runtime.Sleep(ctx, d)
}

func (h *turnHost) setWaits(waits bool) {
	h.l.j.Lock()
	defer h.l.j.Unlock()
	if h.t.waits = waits; waits && h.l.course.stopping {
		h.t.cancel(errHostStops)
	}
}
