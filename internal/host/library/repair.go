package library

import (
	"context"
	"errors"
	"slices"

	"scorel/internal/engine/session"
	"scorel/internal/engine/session/health"
	"scorel/internal/host/failure"
	"scorel/protocol"
)

func (lib *Library) verifySession(ctx context.Context, id protocol.SessionID) (*protocol.SessionReport, error) {
	if err := id.Check(); err != nil {
		return nil, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	report, err := lib.store.Verify(ctx, id)
	if err != nil {
		return nil, err
	}
	return lib.reportOf(ctx, id, report)
}

func (lib *Library) repairSession(ctx context.Context, id protocol.SessionID, leaf protocol.EventID) (*protocol.SessionReport, error) {
	if err := id.Check(); err != nil {
		return nil, protocol.About("sessionId", "", protocol.CodeInvalidRequest, "%s.", failure.Sentence(err))
	}
	if err := lib.keeper.Free(ctx, id, "repair", "repaired"); err != nil {
		return nil, err
	}
	var picked []string
	if leaf != "" {
		found, err := lib.pickLeaf(ctx, id, leaf)
		if err != nil {
			return nil, err
		}
		picked = found
	}
	report, err := lib.store.Repair(ctx, id)
	switch {
	case errors.Is(err, session.ErrReadOnly) && report.Has(health.NewerVersion):
		return nil, protocol.Errorf(protocol.CodeStorageError, "The session cannot be repaired: %s.", report.ReadOnly)
	case errors.Is(err, session.ErrReadOnly):
		return nil, protocol.About("leafEventId", protocol.ReasonLeaf, protocol.CodeStorageError, "The damage may have moved the leaf of %s; look at its tree, and name the event to continue from.", id)
	case err != nil:
		return nil, err
	}
	after, err := lib.store.Verify(ctx, id)
	if err != nil {
		return nil, err
	}
	out, err := lib.reportOf(ctx, id, after)
	if err != nil {
		return nil, err
	}
	stays := out.Findings
	out.Findings = picked
	for _, f := range report.Sentences() {
		if !slices.Contains(picked, f) {
			out.Findings = append(out.Findings, f)
		}
	}
	for _, f := range stays {
		out.Findings = append(out.Findings, "what a repair cannot mend: "+f)
	}
	return out, nil
}

// pickLeaf ends the read-only state of a log in which damage may have moved the
// leaf, and returns what was found.
func (lib *Library) pickLeaf(ctx context.Context, id protocol.SessionID, leaf protocol.EventID) ([]string, error) {
	log, report, err := lib.store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	if !log.NeedsLeaf() {
		if only, why := log.ReadOnly(); only {
			return nil, protocol.Errorf(protocol.CodeStorageError, "The session is read-only: %s.", why)
		}
		return nil, protocol.About("leafEventId", protocol.ReasonHeld, protocol.CodeInvalidRequest, "This session's leaf is known; to move it, branch.")
	}
	if _, err := log.Index().Path(leaf); err != nil {
		return nil, protocol.About("leafEventId", "", protocol.CodeInvalidEventID, "The session has no message %s.", leaf)
	}
	e := protocol.NewEvent(&protocol.Branch{LeafEventID: leaf})
	e.ID, e.ParentID, e.Seq = protocol.NewEventID(lib.settings.Rand), log.Index().Leaf(), log.NextSeqFloor()
	e.SessionID, e.ClientID, e.TS = id, protocol.HostClient, lib.settings.Now().UnixMilli()
	if err := log.PickLeaf(ctx, e); err != nil {
		return nil, err
	}
	report.ReadOnly = ""
	return report.Sentences(), nil
}

func (lib *Library) reportOf(ctx context.Context, id protocol.SessionID, report health.Report) (*protocol.SessionReport, error) {
	index, _, done, err := lib.reader.View(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	return &protocol.SessionReport{Sound: report.Clean(), Events: index.Len(), Bytes: index.Size(), Findings: report.Sentences()}, nil
}
