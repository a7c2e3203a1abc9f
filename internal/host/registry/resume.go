package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"scorel/internal/engine/session"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Bounds of resuming the queues of earlier hosts.
const (
	maxPending     = 10_000 // sessions, the newest ones
	maxPendingOpen = 4      // side by side
)

// resume resumes what waits in the sessions of the device, as a serving
// host does at its start. It returns when each has begun, or waits for a person.
func (r *Registry) resume(ctx context.Context) {
	entries, err := r.cfg.FS.ReadDir(r.PendingDir())
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // else nothing ever waited
			r.cfg.Log.Note("the queues of earlier hosts wait until their sessions are opened: "+err.Error(), nil)
		}
		return
	}
	slots := make(chan struct{}, maxPendingOpen)
	var wg sync.WaitGroup
	defer wg.Wait()
	taken := 0
	for _, e := range slices.Backward(entries) { // by name: the newest session is the last
		id := protocol.SessionID(e.Name())
		if id.Check() != nil {
			if disk.IsTemp(e.Name()) { // of a host that was killed while it wrote
				_ = r.cfg.FS.Remove(filepath.Join(r.PendingDir(), e.Name()))
			}
			continue
		}
		if taken++; taken > maxPending {
			r.cfg.Log.Note(fmt.Sprintf("more than %d sessions have a queue; the oldest wait until they are opened", maxPending), nil)
			return
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		wg.Go(func() { // ends when the session has begun
			defer r.cfg.Guard.Rescue("going on with a queue")
			defer func() { <-slots }()
			if err := r.resumeQueue(ctx, id); err != nil {
				r.cfg.Log.Note(fmt.Sprintf("go on with the queue of %s: %v", id, err), nil)
			}
		})
	}
}

// resumeQueue opens a session and begins a turn with what waits, or pauses the queue
// and returns why in the session's diagnostics.
func (r *Registry) resumeQueue(ctx context.Context, id protocol.SessionID) error {
	s, err := r.Acquire(ctx, id)
	if err != nil {
		var pe *protocol.Error
		if errors.As(err, &pe) && pe.Code == protocol.CodeSessionNotFound || errors.Is(err, session.ErrNotFound) {
			return r.DropPending(id)
		}
		return err // another host has it, or it cannot be read: it stays as it is
	}
	defer r.Release(s)
	if _, ready := s.lane.Waiting(); !ready {
		return nil // taken, or it waits for a person already
	}
	why, err := s.pending.start()
	if err == nil && why == "" {
		if err = s.lane.Resume(ctx); err == nil {
			r.cfg.Log.Report(id, "went on with the queue of an earlier host", nil)
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err() // the host ends: the next one goes on
	}
	if err != nil {
		why = err.Error()
	}
	r.cfg.Log.Report(id, "the queue of an earlier host is paused, because "+why, nil)
	return s.lane.Pause(ctx)
}
