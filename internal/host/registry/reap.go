package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"scorel/internal/engine/session"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// RunDir is where the process groups of a session's children are recorded, below the
// folder of the store.
func RunDir(storeDir string, id protocol.SessionID) string {
	return filepath.Join(storeDir, "run", string(id))
}

// ReapAbandoned ends what hosts that died have left running, in all sessions that
// nobody has. A session that another process has keeps its children. problems are
// one sentence each.
func (r *Registry) ReapAbandoned(ctx context.Context) (problems []string) {
	entries, err := r.cfg.FS.ReadDir(filepath.Join(r.cfg.StoreDir, "run"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was left
	}
	if err != nil {
		return []string{fmt.Sprintf("what earlier hosts left running in sessions is not known: %v", err)}
	}
	for _, e := range entries {
		id := protocol.SessionID(e.Name())
		if id.Check() != nil || ctx.Err() != nil {
			continue
		}
		s, err := r.Acquire(ctx, id) // ends them, with the session's lock held
		var pe *protocol.Error
		switch {
		case err == nil:
			r.Release(s)
		case errors.Is(err, session.ErrNotFound) || errors.As(err, &pe) && pe.Code == protocol.CodeSessionNotFound:
			dir := RunDir(r.cfg.StoreDir, id)
			if _, err := sandbox.Reap(dir); err != nil {
				problems = append(problems, fmt.Sprintf("what the deleted session %s left running: %v", id, err))
			}
			_ = os.Remove(dir) // it stays while something of it lives
		case errors.As(err, &pe) && pe.Code == protocol.CodeSessionLocked:
		default:
			problems = append(problems, fmt.Sprintf("what the session %s left running: %v", id, err))
		}
	}
	return problems
}

// reapAgents ends what sub-agents left running that the end of an earlier host interrupted:
// a session is opened, and those of its sub-agents need not be. One that another process
// has keeps its children.
func (r *Registry) reapAgents(ctx context.Context, agents []protocol.SessionID) {
	for _, id := range agents {
		if _, err := os.Stat(RunDir(r.cfg.StoreDir, id)); err != nil {
			continue
		}
		s, err := r.Acquire(ctx, id) // ends them, and those of its own sub-agents
		if err != nil {
			r.cfg.Log.Report(id, "what the sub-agent left running: "+err.Error(), nil)
			continue
		}
		r.Release(s)
	}
}

// reap ends what a host that died has left running of a session. The session's
// lock is held.
func (r *Registry) reap(id protocol.SessionID) error {
	dir := RunDir(r.cfg.StoreDir, id)
	if _, err := os.Stat(dir); err != nil {
		return nil // nothing was left
	}
	n, err := sandbox.Reap(dir)
	if n > 0 {
		r.cfg.Log.Report(id, fmt.Sprintf("ended %d process groups that an earlier host left running", n), nil)
	}
	return err
}
