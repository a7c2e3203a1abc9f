package host

import (
	"context"
	"errors"

	"scorel/internal/engine/session"
	"scorel/internal/host/dedup"
	"scorel/internal/host/failure"
	"scorel/internal/host/lane"
	"scorel/internal/host/registry"
	"scorel/internal/host/transfer"
	"scorel/protocol"
)

// repeated returns the answer to a request that a client repeats because the
// answer was lost, when the log shows that it was handled.
func (h *Host) repeated(ctx context.Context, client protocol.ClientID, call protocol.Call) (protocol.Response, bool, error) {
	if call.SessionID == "" {
		return nil, false, nil
	}
	index, _, done, err := h.sessions.View(ctx, call.SessionID)
	if errors.Is(err, session.ErrNotFound) {
		_, deleted := call.Request.(*protocol.DeleteSession)
		return &protocol.Deleted{}, deleted, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer done()
	id, found, err := index.FindCause(ctx, client, call.RequestID)
	if err != nil {
		return nil, false, err
	}
	if !found {
		return ranAlready(ctx, index, client, call)
	}
	if id == "" { // the header's: the request made the session
		if dedup.IsAnother(index.Header().Cause, call) {
			return nil, true, dedup.ErrAnother()
		}
		if r, ok := call.Request.(*protocol.CreateJob); ok {
			sum, err := h.rooms.jobs.CreateAgain(ctx, lane.Caller{Client: client, Request: call.RequestID, Body: call.Body}, call.SessionID, r)
			return sum, true, err
		}
		sum := registry.SummaryOf(index)
		if _, ok := call.Request.(*protocol.ImportSession); ok {
			found, err := transfer.FoundOnImport(ctx, index)
			return &protocol.Imported{Summary: sum, Findings: found}, err == nil, err
		}
		return &sum, true, nil
	}
	e, err := index.Event(ctx, id)
	if err != nil {
		return nil, false, err
	}
	if dedup.IsAnother(e.Cause, call) {
		return nil, true, dedup.ErrAnother()
	}
	if r, ok := call.Request.(*protocol.RewindTo); ok && (r.RestoreFiles || len(r.Files) > 0) {
		moved, err := h.restoreAgain(ctx, call.SessionID, e, r)
		return moved, true, err
	}
	answer := call.Request.Spec().Answer(e)
	if moved, ok := answer.(*protocol.Moved); ok {
		for next, err := range index.EventsAfter(ctx, e.Seq) { // a summary stands directly after
			if _, ok := next.Body.(*protocol.BranchSummary); err == nil && ok && lane.SameCause(next, e) {
				moved.LeafID, moved.SummaryID = next.ID, next.ID
			}
			break
		}
	}
	return answer, true, nil
}

// errBegun is why nobody knows what became of a request whose host died with it.
var errBegun = protocol.Errorf(protocol.CodeConflict, "the host ended while the command ran")

// ranAlready returns the answer to a command that is repeated and leaves no event that
// names it, when the log shows that it was begun.
func ranAlready(ctx context.Context, index *session.Index, client protocol.ClientID, call protocol.Call) (protocol.Response, bool, error) {
	if _, ok := call.Request.(*protocol.RunCommand); !ok {
		return nil, false, nil
	}
	run, found, err := lane.FindRequest(ctx, index, client, call.RequestID)
	switch {
	case err != nil || !found:
		return nil, false, err
	case dedup.IsAnother(&protocol.Cause{Body: run.Body}, call):
		return nil, true, dedup.ErrAnother()
	case !run.Ended:
		return nil, true, &failure.Acted{Err: failure.UnknownOutcome(errBegun)}
	case run.Error != nil:
		return nil, true, &failure.Acted{Err: run.Error}
	}
	return &protocol.CommandResult{Status: run.Status}, true, nil
}

// restoreAgain takes back the files of a rewind that is repeated: the host may have
// been killed between the event and the files.
func (h *Host) restoreAgain(ctx context.Context, id protocol.SessionID, rewind protocol.Event, r *protocol.RewindTo) (*protocol.Moved, error) {
	s, err := h.sessions.Acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer h.sessions.Release(s)
	return s.Lane().RestoreAgain(ctx, rewind, lane.Move{RestoreFiles: r.RestoreFiles, Files: r.Files})
}
