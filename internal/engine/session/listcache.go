package session

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"sync"

	"scorel/internal/engine/session/rawlog"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// listCache keeps the summaries of logs by size and time of change. It is
// derived: a damaged or missing file only costs reading the logs again. It holds
// one entry for each log there is.
type listCache struct {
	mu      sync.Mutex
	loaded  bool
	entries map[protocol.SessionID]cached
}

type cached struct {
	Size    int64   `json:"size"`
	Mod     int64   `json:"mod"` // Unix nanoseconds
	Form    int     `json:"form"`
	Summary Summary `json:"summary"`
}

// cacheForm is of entries that have all that a [Summary] has now; others are read again.
const cacheForm = 1

// cacheName begins with a dot: it is no session.
const cacheName = ".list.json"

// maxStale is how many logs a list may read again and again before it writes its
// cache: the sessions that are in use change all the time.
const maxStale = 8

// cacheUse is the use of the cache by one list.
type cacheUse struct {
	s     *Store
	fresh int // summaries that were read again
}

func (s *Store) openCache() *cacheUse {
	c := &s.cache
	c.mu.Lock()
	defer c.mu.Unlock() // held over the first reading: whoever waits needs it
	if !c.loaded {
		c.loaded = true
		c.entries = map[protocol.SessionID]cached{}
		if data, err := readFile(s.fs, filepath.Join(s.sessions(), cacheName)); err == nil {
			if json.Unmarshal(data, &c.entries) != nil || c.entries == nil {
				c.entries = map[protocol.SessionID]cached{}
			}
		}
	}
	return &cacheUse{s: s}
}

func (u *cacheUse) summary(ctx context.Context, f listed) Summary {
	c := &u.s.cache
	c.mu.Lock()
	e, ok := c.entries[f.id]
	c.mu.Unlock()
	if ok && e.Size == f.size && e.Mod == f.mod.UnixNano() && e.Summary.ID == f.id && e.Form == cacheForm {
		return e.Summary
	}
	sum, err := u.s.summarise(ctx, f)
	if err != nil {
		return sum
	}
	u.fresh++
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[f.id] = cached{f.size, f.mod.UnixNano(), cacheForm, sum}
	return sum
}

// forget drops what is remembered of a session, from the file too: its first words stand
// there.
func (c *listCache) forget(s *Store, id protocol.SessionID) {
	u := s.openCache()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, id)
	if data, err := readFile(s.fs, filepath.Join(s.sessions(), cacheName)); err == nil && bytes.Contains(data, []byte(id)) {
		if u.write() != nil { // no room: what is not remembered is read again
			_ = s.fs.Remove(filepath.Join(s.sessions(), cacheName))
		}
	}
}

// close forgets logs that are gone and writes the cache when much has changed.
// A failure is of no consequence.
func (u *cacheUse) close(files []listed) {
	c := &u.s.cache
	c.mu.Lock()
	defer c.mu.Unlock() // held over the write, so that two lists do not mix
	if len(c.entries) > len(files) {
		there := make(map[protocol.SessionID]bool, len(files))
		for _, f := range files {
			there[f.id] = true
		}
		for id := range c.entries {
			if !there[id] {
				delete(c.entries, id)
			}
		}
	}
	if u.fresh > maxStale {
		_ = u.write()
	}
}

// write replaces the file of the cache, whose lock is held.
func (u *cacheUse) write() error {
	c := &u.s.cache
	data, err := json.Marshal(c.entries)
	if err != nil {
		return err
	}
	name := filepath.Join(u.s.sessions(), cacheName)
	f, tmp, err := disk.Temp(u.s.fs, name)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = u.s.fs.Rename(tmp, name) // without a sync: what a crash leaves is checked when read
	}
	if err != nil {
		_ = u.s.fs.Remove(tmp)
	}
	return err
}

// readFile reads a whole small file.
func readFile(fsys disk.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name, disk.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	return data, rawlog.ReadFull(f.ReadAt, data, 0)
}
