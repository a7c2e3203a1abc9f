package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"scorel/internal/engine/archive"
	"scorel/internal/platform/fault"
)

// Lost are payloads that events name and that cannot be given, each once: the store does
// not have them, has other bytes under their name, or cannot read them.
type Lost struct{ Missing, Damaged, Unread []string }

// Add takes in why a payload could not be given. It is false for what says nothing about
// the payload: no error, the end of a context, and a size.
func (l *Lost) Add(sha string, err error) bool {
	to := &l.Unread
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrTooLarge):
		return false
	case errors.Is(err, ErrNoBlob):
		to = &l.Missing
	case errors.Is(err, ErrDamagedBlob):
		to = &l.Damaged
	}
	if !slices.Contains(*to, sha) {
		*to = append(*to, sha)
	}
	return true
}

// ExportBundle writes a view as ExportJSONL does, with the payloads that its
// events name, and says which are lost; a bundle of the others is written all the
// same. More than a bundle may hold gives ErrTooLarge.
func (s *Store) ExportBundle(ctx context.Context, w io.Writer, v *View) (lost Lost, err error) {
	sn := v.ix.snapshot()
	head, err := v.ix.headerLine()
	if err != nil {
		return Lost{}, fmt.Errorf("export %s: %w", v.ix.id, err)
	}
	size := int64(len(head)) + 1
	for i := range sn.entries {
		size += int64(sn.entries[i].size) + 1
	}
	named, err := v.ix.named(ctx, nil)
	if err != nil {
		return Lost{}, err
	}
	if size > archive.MaxUnpacked || len(named) >= archive.MaxEntries {
		return Lost{}, fmt.Errorf("export %s: %w for a bundle", v.ix.id, ErrTooLarge)
	}
	out := archive.NewWriter(w)
	r, pw := io.Pipe()
	go func() { // ends when the log is written, or r is closed
		var err error
		if p := fault.Attempt(func() { err = ExportJSONL(ctx, pw, v) }); p != nil {
			err = p
		}
		pw.CloseWithError(err)
	}()
	err = out.Session(r, size)
	_ = r.CloseWithError(io.ErrClosedPipe)
	if err != nil {
		return Lost{}, err
	}
	total := size
	for _, sha := range named {
		if err := ctx.Err(); err != nil {
			return Lost{}, err
		}
		f, size, err := s.Blobs().Whole(ctx, sha)
		if lost.Add(sha, err) {
			continue
		}
		if err == nil {
			err = writeBlob(out, sha, f, size, archive.MaxUnpacked-total)
		}
		if err != nil {
			return Lost{}, fmt.Errorf("export %s: %w", v.ix.id, err)
		}
		total += size + 1024 // what the archive adds
	}
	return lost, out.Close()
}

// writeBlob writes one payload of at most so many bytes, and closes it.
func writeBlob(out *archive.Writer, sha string, f io.ReadCloser, size, most int64) error {
	defer f.Close()
	if size > most-64<<10 {
		return fmt.Errorf("%w for a bundle", ErrTooLarge)
	}
	return out.Blob(sha, f, size)
}

// named returns the payloads that the events name ([protocol.Event.Payloads]), each once,
// less those of the events at the places that without says; nil says none.
func (ix *Index) named(ctx context.Context, without func(place int) bool) ([]string, error) {
	var out []string
	seen := map[string]bool{} // bounded by what the log names
	s := ix.snapshot()
	for i := range s.entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if without != nil && without(i) {
			continue
		}
		ev, err := ix.decode(&s.entries[i])
		if err != nil {
			return nil, err
		}
		for _, sha := range ev.Payloads() {
			if !seen[sha] {
				seen[sha] = true
				out = append(out, sha)
			}
		}
	}
	return out, nil
}
