package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"scorel/internal/engine/progress"
	"scorel/internal/engine/session"
	"scorel/protocol"
)

// processes follows the work of the calls of a session.
func (h *Host) processes(id protocol.SessionID, panicked func(any)) *progress.Recorder {
	return progress.New(progress.Config{Session: id, Dir: progress.Dir(h.cfg.StoreDir, id), FS: h.cfg.FS, Now: h.cfg.Now,
		Report: func(what string, detail []byte) { h.report(id, what, detail) }, Panicked: panicked})
}

// getProcessLog gives a part of the log of an operation, also while it runs.
func (h *Host) getProcessLog(ctx context.Context, id protocol.SessionID, r *protocol.GetProcessLog) (*protocol.ProcessLog, error) {
	switch {
	case r.OperationID == "":
		return nil, protocol.About("operationId", "", protocol.CodeInvalidRequest, "Name the operation as operationId; tool results carry it in process.logRef.")
	case r.Offset < 0:
		return nil, protocol.About("offset", "", protocol.CodeInvalidRequest, "The offset is %d; it is the number of a line, from 0.", r.Offset)
	case r.Limit < 0 || r.Limit > progress.MaxPage:
		return nil, protocol.About("limit", "", protocol.CodeInvalidRequest, "The limit is %d; it can be 1 to %d lines.", r.Limit, progress.MaxPage)
	}
	if err := id.Check(); err != nil {
		return nil, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", sentence(err))
	}
	h.mu.Lock()
	open := h.lanes[id] != nil
	h.mu.Unlock()
	if open {
		s, err := h.acquire(ctx, id)
		if err != nil {
			return nil, err
		}
		defer h.release(s)
		s.lane.FlushProcesses()
	} else if there, err := h.hasLog(id); err != nil || !there {
		return nil, cmp.Or(err, fmt.Errorf("session %s: %w", id, session.ErrNotFound))
	}
	log, err := progress.Read(h.cfg.FS, progress.Dir(h.cfg.StoreDir, id), r.OperationID, r.Offset, r.Limit)
	if errors.Is(err, progress.ErrNoLog) {
		return nil, protocol.About("operationId", "", protocol.CodeInvalidRequest, "The session has no process log of the operation %.80q.", r.OperationID)
	}
	return log, err
}

// minLogAge is the youngest process log that prune removes.
const minLogAge = 24 * time.Hour

// prune removes payloads that no session names, and process logs whose session is
// gone.
func (h *Host) prune(ctx context.Context) (*protocol.Pruned, error) {
	p, err := h.store.Blobs().Prune(ctx, 0)
	if err != nil {
		return nil, err
	}
	sessions, bytes, err := progress.Prune(ctx, h.cfg.FS, h.cfg.StoreDir, h.cfg.Now().Add(-minLogAge), h.hasLog)
	return &protocol.Pruned{Blobs: p.Blobs, Bytes: p.Bytes + bytes, ProcessLogs: sessions}, err
}

// hasLog says whether a session is there.
func (h *Host) hasLog(id protocol.SessionID) (bool, error) {
	_, err := h.cfg.FS.Stat(filepath.Join(h.cfg.StoreDir, "sessions", string(id)+".jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// handleProcesses registers the handlers of this file's requests.
func (h *Host) handleProcesses(t handlers) {
	on(t, func(ctx context.Context, at *target, r *protocol.GetProcessLog) (protocol.Response, error) {
		return h.getProcessLog(ctx, at.call.SessionID, r)
	})
	inSession(t, func(_ context.Context, at *target, _ *protocol.ListTasks) (protocol.Response, error) {
		return at.lane.Tasks(), nil
	})
	inSession(t, func(ctx context.Context, at *target, r *protocol.StopTask) (protocol.Response, error) {
		return at.lane.StopTask(ctx, r.TaskID)
	})
}
