package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"scorel/internal/engine/session"
	"scorel/protocol"
)

// ReapAbandoned ends what hosts that died have left running, in all sessions that
// nobody has. A session that another process has keeps its children. problems are
// one sentence each.
func (h *Host) ReapAbandoned(ctx context.Context) (problems []string) {
	entries, err := h.cfg.FS.ReadDir(filepath.Join(h.cfg.StoreDir, "run"))
	if err != nil {
		return nil // nothing was left
	}
	for _, e := range entries {
		id := protocol.SessionID(e.Name())
		if id.Check() != nil || ctx.Err() != nil {
			continue
		}
		s, err := h.acquire(ctx, id) // ends them, with the session's lock held
		var pe *protocol.Error
		switch {
		case err == nil:
			h.release(s)
		case errors.Is(err, session.ErrNotFound) || errors.As(err, &pe) && pe.Code == protocol.CodeSessionNotFound:
			if _, err := reapChildren(h.runDir(id)); err != nil {
				problems = append(problems, fmt.Sprintf("what the deleted session %s left running: %v", id, err))
			}
			_ = os.Remove(h.runDir(id)) // it stays while something of it lives
		case errors.As(err, &pe) && pe.Code == protocol.CodeSessionLocked:
		default:
			problems = append(problems, fmt.Sprintf("what the session %s left running: %v", id, err))
		}
	}
	return problems
}
