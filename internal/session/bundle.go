package session

import (
	"context"
	"errors"
	"fmt"
	"io"

	"scorel/internal/bundle"
)

// ExportBundle writes a view as ExportJSONL does, with the payloads that its
// events name. missing are those that the store does not have; a bundle of the
// others is written all the same. More than a bundle may hold gives ErrTooLarge.
func (s *Store) ExportBundle(ctx context.Context, w io.Writer, v *View) (missing []string, err error) {
	sn := v.ix.snapshot()
	head, err := v.ix.headerLine()
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", v.ix.id, err)
	}
	size := int64(len(head)) + 1
	for i := range sn.entries {
		size += int64(sn.entries[i].size) + 1
	}
	named, err := v.ix.named(ctx, nil)
	if err != nil {
		return nil, err
	}
	if size > bundle.MaxUnpacked || len(named) >= bundle.MaxEntries {
		return nil, fmt.Errorf("export %s: %w for a bundle", v.ix.id, ErrTooLarge)
	}
	out := bundle.NewWriter(w)
	r, pw := io.Pipe()
	go func() { pw.CloseWithError(ExportJSONL(ctx, pw, v)) }() // ends when the log is written, or r is closed
	err = out.Session(r, size)
	_ = r.CloseWithError(io.ErrClosedPipe)
	if err != nil {
		return nil, err
	}
	total := size
	for _, sha := range named {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch size, err := s.exportBlob(out, sha, bundle.MaxUnpacked-total); {
		case errors.Is(err, ErrNotFound):
			missing = append(missing, sha)
		case err != nil:
			return nil, fmt.Errorf("export %s: %w", v.ix.id, err)
		default:
			total += size + 1024 // what the archive adds
		}
	}
	return missing, out.Close()
}

// exportBlob writes one payload of at most so many bytes and gives its size.
func (s *Store) exportBlob(out *bundle.Writer, sha string, most int64) (int64, error) {
	f, size, err := s.Blobs().Open(sha)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if size > most-64<<10 {
		return 0, fmt.Errorf("%w for a bundle", ErrTooLarge)
	}
	return size, out.Blob(sha, f, size)
}

// named gives the payloads that the events name, each once, less those of the
// events at the places in without.
func (ix *Index) named(ctx context.Context, without map[int]bool) ([]string, error) {
	var out []string
	seen := map[string]bool{} // bounded by what the log names
	s := ix.snapshot()
	for i := range s.entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if without[i] {
			continue
		}
		line, err := ix.src.read(s.entries[i].off, int(s.entries[i].size))
		if err != nil {
			return nil, err
		}
		for _, sha := range bundle.Named(line) {
			if !seen[sha] {
				seen[sha] = true
				out = append(out, sha)
			}
		}
	}
	return out, nil
}
