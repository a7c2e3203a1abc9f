package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scorel/internal/platform/disk"
)

// Bounds of trust.json; the folder that was trusted first goes first, and is
// asked for again.
const (
	MaxFolders = 1000
	MaxStore   = 8 << 20 // bytes
)

// stat is what a file's hash is known by without reading it. Times are in
// nanoseconds. Zero is not known.
type stat struct {
	Inode    uint64 `json:"inode"`
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"`
	Changed  int64  `json:"changed"` // ctime
}

type fileRecord struct {
	Name   string `json:"name"`
	Target string `json:"target,omitempty"`
	SHA256 string `json:"sha256"`
	Stat   stat   `json:"stat,omitzero"`
}

type itemRecord struct {
	Kind  Kind         `json:"kind"`
	Name  string       `json:"name"`
	Files []fileRecord `json:"files"`
}

func (r *itemRecord) file(name string) *fileRecord {
	if r == nil {
		return nil
	}
	for i := range r.Files {
		if r.Files[i].Name == name {
			return &r.Files[i]
		}
	}
	return nil
}

// is reports whether a file is the one that was trusted.
func (r *fileRecord) is(f File) bool {
	return r != nil && r.SHA256 == f.SHA256 && r.Target == f.Target
}

type folderRecord struct {
	TrustedAt int64        `json:"trustedAt"` // Unix milliseconds
	Items     []itemRecord `json:"items"`
}

func (r *folderRecord) item(kind Kind, name string) *itemRecord {
	if r == nil {
		return nil
	}
	for i := range r.Items {
		if r.Items[i].Kind == kind && r.Items[i].Name == name {
			return &r.Items[i]
		}
	}
	return nil
}

// content is trust.json.
type content struct {
	Version int                      `json:"version"`
	Folders map[string]*folderRecord `json:"folders"` // by canonical path
}

// errDamaged is in the chain of what is wrong with a file that may be set aside.
var errDamaged = errors.New("damaged")

// load reads trust.json. A missing one is empty.
func (s *Store) load() (content, error) {
	empty := content{Version: 1, Folders: map[string]*folderRecord{}}
	data, err := disk.ReadFile(s.cfg.FS, s.name(), MaxStore)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return empty, nil
	case err != nil:
		var path *fs.PathError
		if errors.As(err, &path) {
			return empty, path.Err
		}
		return empty, fmt.Errorf("%w: %w", errDamaged, err) // too large
	}
	var c content
	if err := json.Unmarshal(data, &c); err != nil {
		return empty, fmt.Errorf("%w: %w", errDamaged, err)
	}
	switch {
	case c.Version > 1:
		return empty, fmt.Errorf("it has version %d, this program knows 1", c.Version)
	case c.Version < 1:
		return empty, fmt.Errorf("%w: it has no version", errDamaged)
	}
	if c.Folders == nil {
		c.Folders = map[string]*folderRecord{}
	}
	maps.DeleteFunc(c.Folders, func(_ string, f *folderRecord) bool { return f == nil })
	return c, nil
}

// warning is what a person is told about a file that load did not take.
func (s *Store) warning(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errDamaged):
		return fmt.Sprintf("Nothing is trusted, because %s is damaged; the next scorel trust sets it aside and begins a new one.", s.name())
	}
	return fmt.Sprintf("Nothing is trusted, because %s cannot be used: %v.", s.name(), err)
}

// update changes trust.json under its lock. It says where a damaged one was set
// aside, "" when there was none.
func (s *Store) update(change func(*content) (bool, error)) (aside string, err error) {
	if err := s.cfg.FS.MkdirAll(s.cfg.Dir); err != nil {
		return "", err
	}
	lock, err := disk.WaitLock(s.cfg.FS, s.name()+".lock")
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Unlock() }()
	c, err := s.load()
	damaged := errors.Is(err, errDamaged)
	if err != nil && !damaged {
		return "", fmt.Errorf("%s cannot be used: %w", s.name(), err)
	}
	if changed, err := change(&c); err != nil || !changed {
		return "", err
	}
	data, err := c.bounded()
	if err != nil {
		return "", err
	}
	if damaged {
		if aside, err = disk.SetAside(s.cfg.FS, s.name(), s.cfg.Now()); err != nil {
			return "", err
		}
	}
	return aside, disk.WriteFile(s.cfg.FS, s.name(), data)
}

// bounded marshals the content, without the oldest folders where there would be
// too much.
func (c *content) bounded() ([]byte, error) {
	oldest := slices.SortedFunc(maps.Keys(c.Folders), func(a, b string) int {
		if d := c.Folders[a].TrustedAt - c.Folders[b].TrustedAt; d != 0 {
			return int(max(-1, min(1, d)))
		}
		return strings.Compare(a, b)
	})
	for {
		if len(oldest) <= MaxFolders {
			data, err := json.MarshalIndent(c, "", " ")
			if err != nil || len(data) < MaxStore {
				return append(data, '\n'), err
			}
			if len(oldest) == 1 {
				return nil, fmt.Errorf("the list of files of %s is larger than %d bytes", oldest[0], MaxStore)
			}
		}
		delete(c.Folders, oldest[0])
		oldest = oldest[1:]
	}
}

func (s *Store) name() string { return filepath.Join(s.cfg.Dir, "trust.json") }

// Folder is a trusted folder as the list shows it.
type Folder struct {
	Root      string
	TrustedAt time.Time
	Items     int
}

// List returns the trusted folders by path, and a sentence about trust.json when
// it cannot be used.
func (s *Store) List() ([]Folder, string) {
	c, err := s.load()
	out := []Folder{}
	for _, root := range slices.Sorted(maps.Keys(c.Folders)) {
		f := c.Folders[root]
		out = append(out, Folder{Root: root, TrustedAt: time.UnixMilli(f.TrustedAt), Items: len(f.Items)})
	}
	return out, s.warning(err)
}
