package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scorel/internal/engine/session/rawlog"
	"scorel/internal/platform/disk"
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
		n, err := b.store.sweepTemps(ctx, dir, limit)
		if out.Temps += n; err != nil {
			return out, fmt.Errorf("prune: %w", err)
		}
	}
	entries, err := b.store.fs.ReadDir(b.dir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, fmt.Errorf("prune: %w", err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && protocol.IsPayload(e.Name()) && info.ModTime().Before(limit) {
			old[e.Name()] = info.Size()
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

// awaySuffix ends the name of a blob that is being removed.
const awaySuffix = disk.TempMark + "old"

// removeIf removes a blob whose last change was at a time that is removable. It is
// moved away first and looked at then: a Put in between makes a new file of that name,
// a Keep finds none.
func (b *Blobs) removeIf(sha string, removable func(mod time.Time) bool) (bool, error) {
	away := b.path(sha) + awaySuffix
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

// mentionedIn returns the blobs that files in the folder of the logs name.
func (b *Blobs) mentionedIn(ctx context.Context, names []string) ([]string, error) {
	entries, err := b.store.fs.ReadDir(b.dir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all := make(map[string]int64, len(entries)) // bounded by the folder
	for _, e := range entries {
		if protocol.IsPayload(e.Name()) {
			all[e.Name()] = 0
		}
	}
	rest := maps.Clone(all)
	for _, name := range names {
		if err := b.scanNames(ctx, filepath.Join(b.store.sessions(), name), rest); err != nil && !errors.Is(err, disk.ErrNowhere) {
			return nil, err
		}
	}
	maps.DeleteFunc(all, func(sha string, _ int64) bool { _, ok := rest[sha]; return ok })
	return slices.Sorted(maps.Keys(all)), nil
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
	buf := make([]byte, min(rawlog.BlockSize, size))
	for off := int64(0); off < size && len(old) > 0; off += int64(len(buf)) - hexSHA {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := buf[:min(int64(len(buf)), size-off)]
		if err := rawlog.ReadFull(f.ReadAt, p, off); err != nil {
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
// anywhere else, in p. A run of digits that is long enough covers one of the places at
// which it looks.
func forgetNamed(p []byte, old map[string]int64) {
	for i := hexSHA - 1; i < len(p); {
		if !isHex[p[i]] {
			i += hexSHA
			continue
		}
		start, end := i, i+1
		for start > 0 && isHex[p[start-1]] {
			start--
		}
		for end < len(p) && isHex[p[end]] {
			end++
		}
		for at := start; at+hexSHA <= end; at++ {
			delete(old, string(p[at:at+hexSHA]))
		}
		i = end + hexSHA
	}
}

// isHex says which bytes are lower-case hex digits.
var isHex = func() (out [256]bool) {
	for _, c := range []byte("0123456789abcdef") {
		out[c] = true
	}
	return out
}()
