package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"scorel/internal/engine/progress"
	"scorel/internal/engine/session"
	"scorel/internal/host/partial"
	"scorel/protocol"
)

// deletion is a session that is being deleted with those of its sub-agents. It collects
// what becomes of the payloads that they name: one that was kept because the session of a
// sub-agent names it may go with that.
type deletion struct {
	removed, later, kept map[string]bool // bounded by what the logs name
	bytes                int64
}

// deleteSession deletes a session and those of its sub-agents, with what only these name.
func (h *Host) deleteSession(ctx context.Context, id protocol.SessionID) (*protocol.Deleted, error) {
	d := &deletion{map[string]bool{}, map[string]bool{}, map[string]bool{}, 0}
	if err := h.deleteTree(ctx, id, d); err != nil {
		return nil, err
	}
	out := &protocol.Deleted{Removed: len(d.removed), Bytes: d.bytes, Later: len(d.later)}
	for sha := range d.kept {
		if !d.removed[sha] && !d.later[sha] {
			out.Kept++
		}
	}
	return out, nil
}

func (h *Host) deleteTree(ctx context.Context, id protocol.SessionID, d *deletion) error {
	if err := id.Check(); err != nil {
		return protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	if err := h.free(ctx, id, "delete", "deleted"); err != nil {
		return err
	}
	// Those of its sub-agents go first: while one is left, so is what leads to it.
	done, err := h.store.Delete(ctx, id, func() error { return h.deleteSubagents(ctx, id, d) })
	if err != nil {
		return err
	}
	left := errors.Join(done.Left, h.dropPending(id), partial.Remove(h.cfg.FS, h.pendingDir(), id))
	if left != nil {
		h.note(fmt.Sprintf("delete session %s: it is gone, and this is left of it: %v", id, left))
	}
	d.note(done)
	h.sessionDeleted(id)
	_ = progress.Remove(h.cfg.FS, h.cfg.StoreDir, id) // what cannot be removed now goes with scorel sessions prune
	return nil
}

func (d *deletion) note(done session.Deleted) {
	for to, names := range map[*map[string]bool][]string{&d.removed: done.Removed, &d.later: done.Later, &d.kept: done.Kept} {
		for _, sha := range names {
			(*to)[sha] = true
		}
	}
	d.bytes += done.Bytes
}

// deleteSubagents deletes the sessions of a session's sub-agents, which are part of the
// conversation.
func (h *Host) deleteSubagents(ctx context.Context, id protocol.SessionID, d *deletion) error {
	var left []string
	var first error
	for s, err := range h.store.List(ctx, session.Query{Parent: id}) {
		if err != nil {
			return err
		}
		if err := h.deleteTree(ctx, s.ID, d); err != nil {
			left, first = append(left, string(s.ID)), cmp.Or(first, err)
		}
	}
	if first == nil {
		return nil
	}
	if len(left) > maxIgnored {
		left = append(left[:maxIgnored], "…")
	}
	return protocol.Errorf(protocol.AsError(first).Code, "The session is not deleted, because these of its sub-agents cannot be: %s. %s", strings.Join(left, ", "), protocol.AsError(first).Message)
}

// sweepInterval is how often a serving host removes what waits for its removal.
const sweepInterval = time.Hour

// sweep removes what deleted sessions have left and what is old enough now: at the start,
// and in a serving host, with the left-overs of crashes, every hour. It ends with ctx.
func (h *Host) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		look := h.store.SweepDeleted
		if h.cfg.Serving {
			look = h.store.Sweep
		}
		done, err := look(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			h.note("remove what deleted sessions left: " + err.Error())
		case done.Blobs > 0 || done.Temps > 0:
			h.note(fmt.Sprintf("removed %d payloads of deleted sessions (%d bytes) and %d unfinished files", done.Blobs, done.Bytes, done.Temps))
		}
		if !h.cfg.Serving {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// handleDelete registers the handlers of this file's requests.
func (h *Host) handleDelete(t handlers) {
	on(t, func(ctx context.Context, at *target, _ *protocol.DeleteSession) (protocol.Response, error) {
		return h.deleteSession(ctx, at.call.SessionID)
	})
}
