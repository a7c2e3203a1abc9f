// Package drafts remembers which session each running terminal UI shows and what
// is in its editor, so that one that was killed can be gone on with.
//
// Each UI keeps a file of its own, locked while it runs and removed when it is left in
// order; a file that nobody has locked is what a crash left. A [Mark] belongs to one
// goroutine.
package drafts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"scorel/internal/platform/disk"
	"scorel/internal/ui/tui/prefs"
	"scorel/protocol"
)

// Bounds of what is remembered.
const (
	MaxDraft = 256 << 10 // bytes of a draft; a longer one is not kept
	maxLeft  = 32        // files of crashed UIs that are kept, over all projects
	maxFile  = 2 * MaxDraft
)

// State is what a UI showed.
type State struct {
	WorkDir   string             `json:"workDir"`
	SessionID protocol.SessionID `json:"sessionId,omitempty"`
	Draft     string             `json:"draft,omitempty"`
}

// Mark is the file of a running UI.
type Mark struct {
	fs   disk.FS
	path string
	lock disk.Unlocker
	last State
}

// Begin makes the mark of this UI in dir, which is made where it is not there, and
// takes what a crashed UI in the same working directory left, the newest of it; nil
// when there is none. random names the file.
func Begin(fs disk.FS, dir, workDir string, random io.Reader) (*Mark, *State, error) {
	if err := fs.MkdirAll(dir); err != nil {
		return nil, nil, err
	}
	left, err := take(fs, dir, workDir)
	if err != nil {
		return nil, nil, err
	}
	id := make([]byte, 8)
	if _, err := io.ReadFull(random, id); err != nil {
		return nil, nil, err
	}
	m := &Mark{fs: fs, path: filepath.Join(dir, prefix(workDir)+hex.EncodeToString(id)), last: State{WorkDir: workDir}}
	if m.lock, err = fs.Lock(m.path+".lock", nil); err != nil {
		return nil, nil, err
	}
	return m, left, nil
}

// prefix begins the names of the files of a working directory.
func prefix(workDir string) string {
	sum := sha256.Sum256([]byte(workDir))
	return hex.EncodeToString(sum[:6]) + "-"
}

// take returns what the newest crashed UI of a working directory left, and removes it
// and what is too much of the others. A damaged file is set aside with [disk.SetAside], by
// which people are told of it.
func take(fs disk.FS, dir, workDir string) (*State, error) {
	entries, err := fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type file struct {
		name  string
		state State
		at    int64
	}
	var left []file
	for _, e := range entries {
		name, isLock := strings.CutSuffix(e.Name(), ".lock")
		if !isLock {
			continue
		}
		path := filepath.Join(dir, name)
		lock, err := fs.Lock(path+".lock", nil)
		if err != nil {
			continue // it runs
		}
		f := file{name: path}
		data, err := disk.ReadFile(fs, path, maxFile)
		if err == nil {
			if err = json.Unmarshal(data, &f.state); err == nil && f.state == (State{}) {
				err = errors.New("it says nothing")
			}
		}
		switch {
		case err == nil:
			if info, err := fs.Stat(path); err == nil {
				f.at = info.ModTime().UnixNano()
			}
			left = append(left, f)
		case errors.Is(err, iofs.ErrNotExist): // nothing was typed
			remove(fs, path)
		default: // what cannot be set aside is found again the next time
			if _, err := disk.SetAside(fs, path, time.Now()); err == nil {
				_ = fs.Remove(path + ".lock")
			}
		}
		_ = lock.Unlock()
	}
	slices.SortFunc(left, func(a, b file) int { return int(b.at - a.at) })
	var found *State
	for i, f := range left {
		switch {
		case found == nil && f.state.WorkDir == workDir:
			found = &left[i].state
		case i < maxLeft:
			continue
		}
		remove(fs, f.name)
	}
	return found, nil
}

// remove removes a mark. What cannot be removed is found again the next time.
func remove(fs disk.FS, path string) {
	_ = fs.Remove(path)
	_ = fs.Remove(path + ".lock")
}

// Set remembers what the UI shows now, but for a draft that is [prefs.Private]. It does
// nothing when that is known already.
func (m *Mark) Set(s State) error {
	if len(s.Draft) > MaxDraft || prefs.Private(s.Draft) {
		s.Draft = ""
	}
	if s == m.last {
		return nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := disk.WriteFile(m.fs, m.path, data); err != nil {
		return fmt.Errorf("save the draft: %w", err)
	}
	m.last = s
	return nil
}

// End forgets the mark: the UI was left in order.
func (m *Mark) End() {
	_ = m.fs.Remove(m.path)
	_ = m.lock.Unlock()
	_ = m.fs.Remove(m.path + ".lock")
}
