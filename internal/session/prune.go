package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"scorel/internal/disk"
	"scorel/protocol"
)

// minPruneAge is the youngest blob that Prune removes: one is stored before the
// event that names it.
const minPruneAge = 24 * time.Hour

// Pruned says what Prune has removed.
type Pruned struct {
	Blobs int
	Bytes int64
	Temps int // files that a crash left unfinished
}

// Prune removes the blobs, and the left-overs of crashes, that are older than a
// day (or than olderThan, if that is more) and that no file beside the logs and
// no log names: damaged bytes count, as does any mention.
func (b *Blobs) Prune(ctx context.Context, olderThan time.Duration) (Pruned, error) {
	var out Pruned
	limit := b.store.cfg.Now().Add(-max(olderThan, minPruneAge))
	old := map[string]int64{} // bounded by the folder
	for _, dir := range []string{b.dir(), b.store.sessions()} {
		entries, err := b.store.fs.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, fmt.Errorf("prune: %w", err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.ModTime().Before(limit) {
				continue
			}
			switch {
			case disk.IsTemp(e.Name()):
				if err := b.store.fs.Remove(filepath.Join(dir, e.Name())); err != nil {
					return out, fmt.Errorf("prune: %w", err)
				}
				out.Temps++
			case dir == b.dir() && protocol.IsPayload(e.Name()):
				old[e.Name()] = info.Size()
			}
		}
	}
	if len(old) == 0 {
		return out, nil
	}
	if err := b.keepNamed(ctx, old); err != nil {
		return out, fmt.Errorf("prune: %w", err)
	}
	for sha, size := range old {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		gone, err := b.removeOld(sha, limit)
		if err != nil {
			return out, fmt.Errorf("prune: %w", err)
		}
		if gone {
			out.Blobs++
			out.Bytes += size
		}
	}
	if err := b.store.fs.SyncDir(b.dir()); err != nil {
		return out, fmt.Errorf("prune: %w", err)
	}
	return out, nil
}

// removeOld removes a blob unless it was put or kept again meanwhile.
func (b *Blobs) removeOld(sha string, limit time.Time) (bool, error) {
	return b.removeIf(sha, func(mod time.Time) bool { return mod.Before(limit) })
}

// removeSame removes a blob unless it was put or kept again since mod.
func (b *Blobs) removeSame(sha string, mod time.Time) (bool, error) {
	return b.removeIf(sha, mod.Equal)
}

// removeIf removes a blob whose last change was at a time that is removable. It is
// moved away first and looked at then: a Put in between makes a new file of that name,
// a Keep finds none.
func (b *Blobs) removeIf(sha string, removable func(mod time.Time) bool) (bool, error) {
	away := b.path(sha) + disk.TempMark + "old"
	if err := b.store.fs.Rename(b.path(sha), away); err != nil {
		return false, err
	}
	info, err := b.store.fs.Stat(away)
	if err == nil && !removable(info.ModTime()) {
		return false, b.store.fs.Rename(away, b.path(sha))
	}
	return true, b.store.fs.Remove(away)
}

// keepNamed takes the blobs out of old that some file in the folder of the logs
// names.
func (b *Blobs) keepNamed(ctx context.Context, old map[string]int64) error {
	entries, err := b.store.fs.ReadDir(b.store.sessions())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !strings.Contains(e.Name(), logSuffix) || e.IsDir() {
			continue
		}
		if err := b.scanNames(ctx, filepath.Join(b.store.sessions(), e.Name()), old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// scanNames looks for runs of 64 hex digits in a file.
func (b *Blobs) scanNames(ctx context.Context, name string, old map[string]int64) error {
	f, err := b.store.fs.Open(name, disk.ReadOnly)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	buf := make([]byte, min(blockSize, size))
	for off := int64(0); off < size && len(old) > 0; off += int64(len(buf)) - hexSHA {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := buf[:min(int64(len(buf)), size-off)]
		if err := readFull(f.ReadAt, p, off); err != nil {
			return err
		}
		forgetNamed(p, old)
		if off+int64(len(p)) == size {
			return nil
		}
	}
	return nil
}

// forgetNamed deletes from old every name that stands between quotes, or
// anywhere else, in p.
func forgetNamed(p []byte, old map[string]int64) {
	run := 0
	for i, c := range p {
		if bytes.IndexByte([]byte("0123456789abcdef"), c) < 0 {
			run = 0
			continue
		}
		if run++; run >= hexSHA {
			delete(old, string(p[i+1-hexSHA:i+1]))
		}
	}
}
