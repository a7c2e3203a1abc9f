package session

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scorel/internal/engine/session/owner"
	"scorel/protocol"
)

// What [Store.Health] looks at: the newest logs, and of these the smaller ones as
// a whole.
const (
	healthLogs  = 100
	healthBytes = 8 << 20
)

// Health is what a quick look at the logs shows.
type Health struct {
	Logs    int
	Bytes   int64
	Newest  time.Time            // when a log was last written; zero without one
	Looked  int                  // logs that were read
	Damaged []protocol.SessionID // of those
	Unread  []protocol.SessionID // those that cannot be read
	Aside   int                  // damaged ends that have been set aside in files
	// Dead are sessions whose lock is held for a process that no longer runs.
	Dead []protocol.SessionID
}

// Health looks at the newest 100 logs without taking a lock or repairing
// anything. Logs that somebody writes, and those over 8 MiB, are not read. What
// was found until ctx ended comes with its error.
func (s *Store) Health(ctx context.Context) (Health, error) {
	var h Health
	files, err := s.files()
	if err != nil {
		return h, err
	}
	slices.SortFunc(files, func(a, b listed) int { return a.position().compare(b.position()) })
	for i, f := range files {
		h.Logs++
		h.Bytes += f.size
		if f.mod.After(h.Newest) {
			h.Newest = f.mod
		}
		if i >= healthLogs || ctx.Err() != nil {
			continue
		}
		if text, held, err := s.fs.Holder(filepath.Join(s.sessions(), string(f.id)+lockSuffix)); err == nil && held {
			if owner.Parse(text).Gone() {
				h.Dead = append(h.Dead, f.id)
			}
			continue
		}
		if f.size > healthBytes {
			continue
		}
		v, report, err := s.View(ctx, f.id)
		if errors.Is(err, ErrNotFound) || ctx.Err() != nil {
			continue
		}
		if err == nil {
			err = v.Close()
		}
		if err != nil {
			h.Unread = append(h.Unread, f.id)
			continue
		}
		h.Looked++
		if !report.Clean() {
			h.Damaged = append(h.Damaged, f.id)
		}
	}
	entries, err := s.fs.ReadDir(s.sessions())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return h, err
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), damagedSuffix) {
			h.Aside++
		}
	}
	return h, ctx.Err()
}

// Usage is how much room blobs take.
type Usage struct {
	Blobs        int
	Bytes        int64
	Unnamed      int   // those that [Blobs.Prune] would remove
	UnnamedBytes int64 // theirs
}

// Usage counts the blobs, and reads the logs for those that none names. When ctx
// ends first, its error comes with the numbers of all.
func (b *Blobs) Usage(ctx context.Context) (Usage, error) {
	var u Usage
	entries, err := b.store.fs.ReadDir(b.dir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return u, err
	}
	limit := b.store.cfg.Now().Add(-minPruneAge)
	old := map[string]int64{} // bounded by the folder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !protocol.IsPayload(e.Name()) {
			continue
		}
		u.Blobs++
		u.Bytes += info.Size()
		if info.ModTime().Before(limit) {
			old[e.Name()] = info.Size()
		}
	}
	if len(old) == 0 {
		return u, nil
	}
	if err := b.keepNamed(ctx, old); err != nil {
		return u, err
	}
	for _, size := range old {
		u.Unnamed++
		u.UnnamedBytes += size
	}
	return u, nil
}
