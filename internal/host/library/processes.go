package library

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
	"scorel/internal/host/failure"
	"scorel/internal/host/request"
	"scorel/protocol"
)

// getProcessLog returns a part of the log of an operation, also while it runs.
func (lib *Library) getProcessLog(ctx context.Context, id protocol.SessionID, r *protocol.GetProcessLog) (*protocol.ProcessLog, error) {
	switch {
	case r.OperationID == "":
		return nil, protocol.About("operationId", "", protocol.CodeInvalidRequest, "Name the operation as operationId; tool results carry it in process.logRef.")
	case r.Offset < 0:
		return nil, protocol.About("offset", "", protocol.CodeInvalidRequest, "The offset is %d; it is the number of a line, from 0.", r.Offset)
	case r.Limit < 0 || r.Limit > progress.MaxPage:
		return nil, protocol.About("limit", "", protocol.CodeInvalidRequest, "The limit is %d; it can be 1 to %d lines.", r.Limit, progress.MaxPage)
	}
	if err := id.Check(); err != nil {
		return nil, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if lib.reader.Has(id) {
		s, err := lib.sessions.Acquire(ctx, id)
		if err != nil {
			return nil, err
		}
		defer lib.sessions.Release(s)
		s.Lane().FlushProcesses()
	} else if there, err := lib.HasLog(id); err != nil || !there {
		return nil, cmp.Or(err, fmt.Errorf("session %s: %w", id, session.ErrNotFound))
	}
	log, err := progress.Read(lib.settings.FS, progress.Dir(lib.settings.StoreDir, id), r.OperationID, r.Offset, r.Limit)
	if errors.Is(err, progress.ErrNoLog) {
		return nil, protocol.About("operationId", "", protocol.CodeNotFound, "The session has no process log of the operation %.80q.", r.OperationID)
	}
	return log, err
}

// minLogAge is the youngest process log that prune removes.
const MinLogAge = 24 * time.Hour

// prune removes payloads that no session names, and process logs whose session is
// gone.
func (lib *Library) prune(ctx context.Context) (*protocol.Pruned, error) {
	p, err := lib.store.Blobs().Prune(ctx, 0)
	if err != nil {
		return nil, err
	}
	sessions, bytes, err := progress.Prune(ctx, lib.settings.FS, lib.settings.StoreDir, lib.settings.Now().Add(-MinLogAge), lib.HasLog)
	return &protocol.Pruned{Blobs: p.Blobs, Bytes: p.Bytes + bytes, ProcessLogs: sessions}, err
}

// HasLog reports whether a session is there.
func (lib *Library) HasLog(id protocol.SessionID) (bool, error) {
	_, err := lib.settings.FS.Stat(filepath.Join(lib.settings.StoreDir, "sessions", string(id)+".jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// handleProcesses enters the handlers of this file's requests.
func (lib *Library) handleProcesses(t request.Table) {
	request.On(t, func(ctx context.Context, at *request.Target, r *protocol.GetProcessLog) (protocol.Response, error) {
		return lib.getProcessLog(ctx, at.Call.SessionID, r)
	})
	request.On(t, func(ctx context.Context, _ *request.Target, _ *protocol.PruneBlobs) (protocol.Response, error) {
		return lib.prune(ctx)
	})
}
