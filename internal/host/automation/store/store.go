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
}

// Name is that of the file in its folder.
const Name = "state.json"

// Look returns what is wrong with the file of a folder, and changes nothing. The file need
// not be there.
func Look(fsys disk.FS, dir string) error {
	data, err := disk.ReadFile(fsys, filepath.Join(dir, Name), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		_, err = parse(data)
	}
	return err
}

// Open reads the file state.json of a folder, which need not be there. A damaged one is set
// aside with [disk.SetAside], by which people are told of it.
func Open(fsys disk.FS, dir string, now func() time.Time) (*Store, error) {
	s := &Store{disk: fsys, name: filepath.Join(dir, Name), now: now, state: &State{Version: version}, sum: sha256.Sum256(nil)}
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
		return s, s.setAside(err)
	}
	s.state, s.sum = st, sha256.Sum256(data)
	return s, nil
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

// newest returns what is to be changed: what the file holds, nil without one, or what it held
// before somebody damaged it. mu is held.
func (s *Store) newest(data []byte) (*State, error) {
	if (data == nil || len(data) > 0) && sha256.Sum256(data) == s.sum {
		return s.state.copied(), nil
	}
	st, err := parse(data) // another process has changed it
	if err == nil || errors.Is(err, errNewer) {
		return st, err
	}
	return s.state.copied(), s.setAside(err)
}

// setAside renames a damaged file.
func (s *Store) setAside(damage error) error {
	if _, err := disk.SetAside(s.disk, s.name, s.now()); err != nil {
		return fmt.Errorf("%s is damaged (%w) and cannot be set aside: %w", s.name, damage, err)
	}
	return nil
}

// parse reads the file; nil is none. An empty one, or one without a version, was not written
// by this package.
func parse(data []byte) (*State, error) {
	if data == nil {
		return &State{Version: version}, nil
	}
	st := &State{}
	if err := json.Unmarshal(data, st); err != nil {
		return nil, err
	}
	switch {
	case st.Version > version:
		return nil, errNewer
	case st.Version < 1:
		return nil, errors.New("it has no version")
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
