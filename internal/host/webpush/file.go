package webpush

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"scorel/internal/host/clients"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// maxFile bounds the file of subscriptions, in bytes: one for each client of a full list has
// about 620,000.
const maxFile = 1 << 20

// subscription is the subscription of one client as it is stored.
type subscription struct {
	ClientID protocol.ClientID `json:"clientId"`
	// Added is when the client's entry was made: one that was taken off the list and comes
	// again does not get it back.
	Added int64 `json:"added"`
	// Endpoint is empty once the push service does not know it any more.
	Endpoint string             `json:"endpoint,omitempty"`
	Key      string             `json:"key"` // the host's, under which it was made
	Contact  string             `json:"contact"`
	State    protocol.PushState `json:"state"`
	Status   int                `json:"status,omitempty"` // of the last refusal
}

// file is the file of subscriptions, in the order in which they were made.
type file struct {
	Version       int            `json:"version"`
	Subscriptions []subscription `json:"subscriptions"`
}

// damagedError says that the file cannot be read.
type damagedError struct {
	name string
	err  error
}

func (e *damagedError) Error() string {
	return fmt.Sprintf("%s is damaged (%v), so nothing is pushed; move it out of ~/.scorel, and switch pushes on again in each browser", filepath.Base(e.name), e.err)
}

// store is the file of subscriptions. Several goroutines and processes may use it at once.
type store struct {
	fs   disk.FS
	name string
}

// read returns the subscriptions; without a file there is none.
func (s store) read() ([]subscription, error) {
	data, err := disk.ReadFile(s.fs, s.name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := s.parse(data)
	return f.Subscriptions, err
}

// change replaces what is kept of a client by what to returns; nil removes it. Who is not in
// entries any more goes, too. It returns when that is durable.
func (s store) change(id protocol.ClientID, entries []clients.Entry, to func(old *subscription) *subscription) error {
	return disk.Update(s.fs, s.name, maxFile, func(old []byte) ([]byte, error) {
		f := file{Version: 1}
		if old != nil {
			var err error
			if f, err = s.parse(old); err != nil {
				return nil, err
			}
		}
		var mine *subscription
		f.Subscriptions = slices.DeleteFunc(f.Subscriptions, func(sub subscription) bool {
			if sub.ClientID == id {
				mine = &sub
			}
			return sub.ClientID == id || entries != nil && entryOf(entries, sub) == nil
		})
		if next := to(mine); next != nil {
			f.Subscriptions = append(f.Subscriptions, *next)
		}
		data, err := json.MarshalIndent(f, "", "  ")
		return append(data, '\n'), err
	})
}

func (s store) parse(data []byte) (f file, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, &damagedError{s.name, err}
	}
	if f.Version != 1 || len(f.Subscriptions) > clients.MaxEntries {
		return f, &damagedError{s.name, fmt.Errorf("version %d with %d subscriptions", f.Version, len(f.Subscriptions))}
	}
	return f, nil
}

// entryOf returns the entry that a subscription belongs to, nil when it has gone.
func entryOf(entries []clients.Entry, sub subscription) *clients.Entry {
	for i := range entries {
		if entries[i].ClientID == sub.ClientID && entries[i].AddedAt == sub.Added {
			return &entries[i]
		}
	}
	return nil
}
