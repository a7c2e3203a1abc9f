package store

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// maxFile bounds the file, in bytes: a thousand schedules with prompts of the greatest length.
const maxFile = 64 << 20

const version = 1

// errNewer says that the file is not this program's to change.
var errNewer = errors.New("the file of schedules was written by a newer Scorel; use that one")

// Store is the file of a host. It may be used concurrently.
type Store struct {
	disk disk.FS
	name string
	now  func() time.Time

	mu    sync.Mutex // guards what follows, and is held while the file is written
	state *State     // what the file holds, never changed
	sum   [32]byte   // SHA-256 of the file, of nothing when there is none
	aside string     // where a file was put that could not be read at first, "" when none was
}

// Open reads the file state.json of a folder, which need not be there. A damaged one is set
// aside, and [Store.Damaged] says so.
func Open(fsys disk.FS, dir string, now func() time.Time) (*Store, error) {
	s := &Store{disk: fsys, name: filepath.Join(dir, "state.json"), now: now, state: &State{Version: version}, sum: sha256.Sum256(nil)}
	data, err := disk.ReadFile(fsys, s.name, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, err
	}
	st, err := parse(data)
	switch {
	case errors.Is(err, errNewer):
		return nil, err
	case err != nil:
		s.aside, err = s.setAside(err)
		return s, err
	}
	s.state, s.sum = st, sha256.Sum256(data)
	return s, nil
}

// Damaged says what became of a file that could not be read, "" when all is well.
func (s *Store) Damaged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aside == "" {
		return ""
	}
	return fmt.Sprintf("The file of schedules was damaged. It is kept as %s; the schedules that it had do nothing until you add them again.", s.aside)
}

// State returns what the file held after the last change. It is not to be changed.
func (s *Store) State() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Update changes the state, and returns when that is durable. When change fails, nothing
// changes.
func (s *Store) Update(change func(*State) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.disk.MkdirAll(filepath.Dir(s.name)); err != nil {
		return err
	}
	var next *State
	sum := s.sum
	err := disk.Update(s.disk, s.name, maxFile, func(old []byte) ([]byte, error) {
		var err error
		if next, err = s.newest(old); err != nil {
			return nil, err
		}
		if err := change(next); err != nil {
			return nil, err
		}
		data, err := json.Marshal(next)
		if err == nil && len(data) > maxFile {
			err = protocol.Errorf(protocol.CodePayloadTooLarge, "The schedules have more than %d MiB together; delete some.", maxFile>>20)
		}
		sum = sha256.Sum256(data)
		return data, err
	})
	if err != nil {
		return err
	}
	s.state, s.sum = next, sum
	return nil
}

// Try returns why the state could not be written now, nil when it could: it writes it to another
// file, and removes that.
func (s *Store) Try() error {
	data, err := json.Marshal(s.State())
	if err != nil {
		return err
	}
	name := s.name + ".try"
	if err := s.disk.MkdirAll(filepath.Dir(name)); err != nil {
		return err
	}
	if err := disk.WriteFile(s.disk, name, data); err != nil {
		return err
	}
	return s.disk.Remove(name)
}

// newest returns what is to be changed: what the file holds, or what it held before somebody
// damaged it. mu is held.
func (s *Store) newest(data []byte) (*State, error) {
	if sha256.Sum256(data) == s.sum {
		return s.state.copied(), nil
	}
	st, err := parse(data) // another process has changed it
	if err == nil || errors.Is(err, errNewer) {
		return st, err
	}
	_, err = s.setAside(err)
	return s.state.copied(), err
}

// setAside renames a damaged file and returns its name then.
func (s *Store) setAside(damage error) (string, error) {
	aside := fmt.Sprintf("%s.damaged-%s", s.name, s.now().UTC().Format("20060102T150405.000"))
	if err := s.disk.Rename(s.name, aside); err != nil {
		return "", fmt.Errorf("%s is damaged (%w) and cannot be set aside: %w", s.name, damage, err)
	}
	return aside, nil
}

// parse reads the file.
func parse(data []byte) (*State, error) {
	st := &State{Version: version}
	if len(data) == 0 {
		return st, nil
	}
	if err := json.Unmarshal(data, st); err != nil {
		return nil, err
	}
	if st.Version > version {
		return nil, errNewer
	}
	for _, x := range st.Schedules {
		if x == nil || x.ScheduleID.Check() != nil {
			return nil, fmt.Errorf("a schedule has no id")
		}
	}
	for _, r := range st.Runs {
		if r == nil || r.RunID.Check() != nil || r.SessionID.Check() != nil {
			return nil, fmt.Errorf("a run has no id")
		}
	}
	return st, nil
}
