package session

import (
	"context"
	"errors"

	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

// Verify reads a whole log without changing it: every line is decoded in full,
// and every blob that an event names is read and its hash compared. Errors are
// those of View.
func (s *Store) Verify(ctx context.Context, id protocol.SessionID) (health.Report, error) {
	ld, err := s.view(ctx, id)
	if err != nil {
		return health.Report{}, err
	}
	ix := ld.index
	defer ix.src.close()
	seen := map[string]bool{} // bounded by what the log names
	sn := ix.snapshot()
	for i := range sn.entries {
		if err := ctx.Err(); err != nil {
			return health.Report{}, err
		}
		e := &sn.entries[i]
		line, err := ix.src.read(e.off, int(e.size))
		if err != nil {
			return health.Report{}, err
		}
		ev, err := protocol.ParseEvent(line)
		if err != nil && !ld.report.Names(health.Unreadable, e.id.id()) {
			ld.report.Add(health.Finding{Kind: health.DamagedLine, Offset: e.off, EventID: e.id.id(), Detail: err.Error()})
		}
		for _, sha := range ev.Payloads() {
			if seen[sha] {
				continue
			}
			seen[sha] = true
			f := health.Finding{Offset: e.off, EventID: e.id.id(), Detail: sha}
			switch err := s.Blobs().Check(ctx, sha); {
			case errors.Is(err, ErrNoBlob):
				f.Kind = health.BlobMissing
			case errors.Is(err, ErrDamagedBlob):
				f.Kind = health.BlobDamaged
			case err != nil && ctx.Err() != nil:
				return health.Report{}, err
			case err != nil:
				f.Kind, f.Detail = health.BlobUnread, sha+": "+err.Error()
			default:
				continue
			}
			ld.report.Add(f)
		}
	}
	return ld.report, nil
}
