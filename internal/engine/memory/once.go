package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"scorel/internal/platform/disk"
)

// Bounds of what is remembered of requests that added notes.
const (
	maxRequests     = 256 // the oldest go first
	maxRequestsFile = 1 << 20
)

// ErrUnknown reports that the process died while it added the note of this request, and
// that the file has changed since, so that nobody can report whether the note is in it.
var ErrUnknown = errors.New("the host ended while it added the note, and the file has changed since")

// request is one that adds a note: stored before the note is, with what the file was
// and is to be, and again when the note is durable.
type request struct {
	By     string `json:"by"`
	Note   string `json:"note,omitempty"` // what it added, as sum tells one from another
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Done   bool   `json:"done,omitempty"`
}

// requests are those that added the last notes, oldest first, of all projects.
func (s *Store) requestsFile() string { return filepath.Join(s.cfg.Dir, "requests.json") }

// requests reads them. A file that somebody has broken is as good as none, and is set aside
// with [disk.SetAside], by which people are told of it.
func (s *Store) requests() (list []request, err error) {
	data, err := disk.ReadFile(s.cfg.FS, s.requestsFile(), maxRequestsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("what is known of earlier notes cannot be read: %w", err)
	}
	if json.Unmarshal(data, &list) != nil || disk.Blank(data) {
		if _, err := disk.SetAside(s.cfg.FS, s.requestsFile(), s.cfg.Now()); err != nil {
			return nil, fmt.Errorf("what is known of earlier notes is damaged and cannot be set aside: %w", err)
		}
		return nil, nil
	}
	return list, nil
}

// added reports whether a request has added its note, when the file at path holds old.
func added(list []request, by, note, path string, old []byte) (bool, error) {
	i := slices.IndexFunc(list, func(r request) bool { return r.By == by })
	if by == "" || i < 0 {
		return false, nil
	}
	switch now := sum(path, old); {
	case list[i].Note != "" && list[i].Note != note:
		return false, refuse("this requestId was used for another note; use a new one for each")
	case list[i].Done || list[i].After == now:
		return true, nil
	case list[i].Before == now:
		return false, nil
	}
	return false, ErrUnknown
}

// noting stores that a request is about to change a file; done stores that it has.
func (s *Store) noting(list []request, by, note, path string, old, changed []byte) (done func() error, err error) {
	if by == "" {
		return func() error { return nil }, nil
	}
	list = slices.DeleteFunc(list, func(r request) bool { return r.By == by })
	list = append(list, request{By: by, Note: note, Before: sum(path, old), After: sum(path, changed)})
	list = list[max(0, len(list)-maxRequests):]
	return func() error {
		list[len(list)-1] = request{By: by, Note: note, Done: true}
		return s.store(list)
	}, s.store(list)
}

func (s *Store) store(list []request) error {
	data, err := json.Marshal(list)
	if err == nil {
		err = disk.WriteFile(s.cfg.FS, s.requestsFile(), data)
	}
	if err != nil {
		return fmt.Errorf("the note cannot be kept, because its request cannot be stored: %w", err)
	}
	return nil
}

// sum tells one state of a file from another.
func sum(path string, data []byte) string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\x00", path)
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
