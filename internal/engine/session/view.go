package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"scorel/internal/engine/session/health"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// View is a log as of one moment, for readers that are not its writer.
type View struct {
	ix  *Index
	src *source
}

// Stamp tells one state of a log from others: a log of the same stamp has not changed.
type Stamp struct {
	Size int64 // bytes
	Mod  int64 // Unix nanoseconds
}

// Stamp returns the stamp of a log as it is now. Errors: ErrNotFound, ErrStorage.
func (s *Store) Stamp(id protocol.SessionID) (Stamp, error) {
	if err := s.mustExist(id); err != nil {
		return Stamp{}, err
	}
	info, err := s.fs.Stat(s.path(id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Stamp{}, fmt.Errorf("session %s: %w", id, ErrNotFound)
	case err != nil:
		return Stamp{}, fmt.Errorf("look at session %s: %w: %w", id, errUnopened, err)
	}
	return Stamp{info.Size(), info.ModTime().UnixNano()}, nil
}

// View reads a log without its lock: up to the size it has now, made durable
// first. It repairs nothing, so a line that its writer has not finished is
// reported as an unfinished end. Errors: ErrNotFound, ErrStorage.
func (s *Store) View(ctx context.Context, id protocol.SessionID) (*View, health.Report, error) {
	ld, err := s.view(ctx, id)
	if err != nil {
		return nil, health.Report{}, err
	}
	return &View{ix: ld.index, src: ld.index.src}, ld.report, nil
}

func (s *Store) view(ctx context.Context, id protocol.SessionID) (*loaded, error) {
	if err := s.mustExist(id); err != nil {
		return nil, err
	}
	name := s.path(id)
	f, err := s.fs.Open(name, disk.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w: %w", id, errUnopened, err)
	}
	src := &source{file: f, open: func() (disk.File, error) { return s.fs.Open(name, disk.ReadOnly) }}
	ld, err := s.loadDurable(ctx, id, src, f, false)
	if err != nil {
		_ = src.close()
		return nil, err
	}
	if ld.tail < ld.size {
		ld.report.Add(health.Finding{Kind: health.Tail, Offset: ld.tail, Detail: fmt.Sprintf("%d bytes", ld.size-ld.tail)})
	}
	if !ld.ended {
		ld.report.Add(health.Finding{Kind: health.NoNewline, Offset: ld.tail})
	}
	switch {
	case ld.newer != "":
		ld.report.ReadOnly = ld.newer
	case ld.unasked:
		ld.report.ReadOnly, ld.report.NeedsLeaf = pickReason, true
	}
	return ld, nil
}

// Index returns what the view knows of the log's events.
func (v *View) Index() *Index { return v.ix }

// ID is the session's id.
func (v *View) ID() protocol.SessionID { return v.ix.id }

// Close ends the view. A second call does nothing.
func (v *View) Close() error { return v.src.close() }
