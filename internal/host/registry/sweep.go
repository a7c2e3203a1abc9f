package registry

import (
	"context"
	"fmt"
	"time"
)

// sweepInterval is how often a serving host removes what waits for its removal.
const sweepInterval = time.Hour

// sweep removes what deleted sessions have left and what is old enough now: at the start,
// and in a serving host, with the left-overs of crashes, every hour. It ends with ctx.
func (r *Registry) sweep(ctx context.Context) {
	look := r.cfg.Store.SweepDeleted
	if r.cfg.Serving {
		look = r.cfg.Store.Sweep
	}
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		done, err := look(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			r.cfg.Log.Note("remove what deleted sessions left: "+err.Error(), nil)
		case done.Blobs > 0 || done.Temps > 0:
			r.cfg.Log.Note(fmt.Sprintf("removed %d payloads of deleted sessions (%d bytes) and %d unfinished files", done.Blobs, done.Bytes, done.Temps), nil)
		}
		if !r.cfg.Serving {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
