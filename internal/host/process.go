package host

import (
	"context"
	"errors"

	"scorel/internal/process"
	"scorel/protocol"
)

// processes follows the work of the calls of a session.
func (h *Host) processes(id protocol.SessionID) *process.Recorder {
	return process.New(process.Config{Session: id, Dir: process.Dir(h.cfg.StoreDir, id), FS: h.cfg.FS, Now: h.cfg.Now,
		Report: func(what string, detail []byte) { h.report(id, what, detail) }})
}

// getProcessLog gives a part of the log of an operation, also while it runs.
func (h *Host) getProcessLog(ctx context.Context, id protocol.SessionID, r *protocol.GetProcessLog) (*protocol.ProcessLog, error) {
	switch {
	case r.OperationID == "":
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "Name the operation as operationId; tool results carry it in process.logRef.")
	case r.Offset < 0:
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The offset is %d; it is the number of a line, from 0.", r.Offset)
	case r.Limit < 0 || r.Limit > process.MaxPage:
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The limit is %d; it can be 1 to %d lines.", r.Limit, process.MaxPage)
	}
	_, _, done, err := h.view(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	h.mu.Lock()
	s := h.lanes[id]
	h.mu.Unlock()
	if s != nil {
		select {
		case <-s.ready:
			if s.lane != nil {
				s.lane.FlushProcesses()
			}
		default: // nothing runs in it yet
		}
	}
	log, err := process.Read(h.cfg.FS, process.Dir(h.cfg.StoreDir, id), r.OperationID, r.Offset, r.Limit)
	if errors.Is(err, process.ErrNoLog) {
		return nil, protocol.Errorf(protocol.CodeInvalidRequest, "The session has no process log of the operation %.80q.", r.OperationID)
	}
	return log, err
}
