package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"scorel/internal/engine/progress"
	"scorel/internal/engine/session"
	"scorel/internal/host/failure"
	"scorel/internal/host/partial"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// deletion is a session that is being deleted with those of its sub-agents. It collects
// what becomes of the payloads that they name: one that was kept because the session of a
// sub-agent names it may go with that.
type deletion struct {
	removed, later, kept map[string]bool // bounded by what the logs name
	bytes                int64
	notices              []string
}

// DeleteSession deletes a session and those of its sub-agents, with what only these name.
func (lib *Library) DeleteSession(ctx context.Context, id protocol.SessionID) (*protocol.Deleted, error) {
	d := &deletion{map[string]bool{}, map[string]bool{}, map[string]bool{}, 0, nil}
	if err := lib.deleteTree(ctx, id, d); err != nil {
		return nil, err
	}
	out := &protocol.Deleted{Removed: len(d.removed), Bytes: d.bytes, Later: len(d.later), Notices: d.notices[:min(len(d.notices), maxNamed)]}
	for sha := range d.kept {
		if !d.removed[sha] && !d.later[sha] {
			out.Kept++
		}
	}
	return out, nil
}

func (lib *Library) deleteTree(ctx context.Context, id protocol.SessionID, d *deletion) error {
	if err := id.Check(); err != nil {
		return protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if err := lib.keeper.Free(ctx, id, "delete", "deleted"); err != nil {
		return err
	}
	// Those of its sub-agents go first: while one is left, so is what leads to it.
	done, err := lib.store.Delete(ctx, id, session.Beside{
		Before: func() error { return lib.deleteSubagents(ctx, id, d) },
		Others: func() error {
			_ = progress.Remove(lib.settings.FS, lib.settings.StoreDir, id) // what cannot be removed now goes with scorel sessions prune
			return errors.Join(lib.keeper.DropPending(id), partial.Remove(lib.settings.FS, lib.keeper.PendingDir(), id))
		}})
	if err != nil {
		return err
	}
	if done.Left != nil {
		lib.log.Note(fmt.Sprintf("delete session %s: it is gone, and this is left of it: %v", id, done.Left), nil)
		d.notices = append(d.notices, fmt.Sprintf("%s is deleted, and this could not be removed: %s", id, done.Left))
	}
	d.note(done)
	lib.announcer.SessionDeleted(id)
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

// maxNamed is how many sub-agents a refusal names.
const maxNamed = 5

// deleteSubagents deletes the sessions of a session's sub-agents, which are part of the
// conversation.
func (lib *Library) deleteSubagents(ctx context.Context, id protocol.SessionID, d *deletion) error {
	var left []string
	var first error
	for s, err := range lib.store.List(ctx, session.Query{Parent: id}) {
		if err != nil {
			return err
		}
		if err := lib.deleteTree(ctx, s.ID, d); err != nil {
			left, first = append(left, string(s.ID)), cmp.Or(first, err)
		}
	}
	if first == nil {
		return nil
	}
	if len(left) > maxNamed {
		left = append(left[:maxNamed], "…")
	}
	return protocol.Errorf(protocol.AsError(first).Code, "The session is not deleted, because these of its sub-agents cannot be: %s. %s", strings.Join(left, ", "), protocol.AsError(first).Message)
}

// handleDelete enters the handlers of this file's requests.
func (lib *Library) handleDelete(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, _ *protocol.DeleteSession) (protocol.Response, error) {
		return lib.DeleteSession(ctx, at.Call.SessionID)
	})
}
