package clients

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// seenEvery is how often the time of an entry's last visit is written at most.
const seenEvery = time.Hour

// Errors that a caller may tell apart.
var (
	ErrUnknown = errors.New("there is no such entry")
	ErrFull    = fmt.Errorf("the list has %d entries, which is all that it can hold; revoke one that is not needed", MaxEntries)
	ErrLabel   = errors.New("the label is empty; give a name that tells the entry from the others")
	ErrPending = errors.New("the entry waits to be confirmed; confirm it first, or revoke it")
	ErrCrowded = fmt.Errorf("%d clients wait to be confirmed, which is all that can; confirm or revoke them first", MaxPending)
)

// DamagedError says that the list cannot be read.
type DamagedError struct {
	Name string // the file
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged (%v), so no client can connect with its key; correct it, or move it away and pair again", e.Name, e.Err)
}

// Unwrap returns what is wrong with it.
func (e *DamagedError) Unwrap() error { return e.Err }

// Store is the list in a file. It may be used concurrently, also by several
// processes.
type Store struct {
	fs   disk.FS
	name string
	now  func() time.Time
}

// New returns the list of the file at name, which need not exist.
func New(fsys disk.FS, name string, now func() time.Time) *Store { return &Store{fsys, name, now} }

// List returns all entries, by label and then by id.
func (s *Store) List() ([]Entry, error) {
	f, err := s.read()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(f.Entries, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Label, b.Label), strings.Compare(string(a.ClientID), string(b.ClientID)))
	})
	return f.Entries, nil
}

// Get returns one entry, as it is now; false when there is none of that id.
func (s *Store) Get(id protocol.ClientID) (Entry, bool, error) {
	f, err := s.read()
	if err != nil {
		return Entry{}, false, err
	}
	if i := f.find(id); i >= 0 {
		return f.Entries[i], true, nil
	}
	return Entry{}, false, nil
}

// Lookup returns the key and the grant of an entry, as they are now; ok is false for one that is
// not on the list. An error is that the list cannot be read.
func (s *Store) Lookup(id protocol.ClientID) (publicKey []byte, grant protocol.Grant, ok bool, err error) {
	e, ok, err := s.Get(id)
	if err != nil || !ok {
		return nil, "", false, err
	}
	return e.PublicKey, e.Granted(), true, nil
}

// Add lets an entry in and gives it as it is stored. The id is the key's, AddedAt is
// now; the label is cleaned and may not be empty. One that is there already gets the
// new label and grant. A full list is [ErrFull].
func (s *Store) Add(publicKey []byte, label string, grant protocol.Grant) (Entry, error) {
	if len(publicKey) != keySize {
		return Entry{}, fmt.Errorf("the key of an entry has %d bytes, not %d", keySize, len(publicKey))
	}
	e := Entry{ClientID: protocol.ClientIDOf(publicKey), PublicKey: slices.Clone(publicKey), Label: CleanLabel(label), Grant: grant, AddedAt: s.now().UnixMilli()}
	if e.Label == "" {
		return Entry{}, ErrLabel
	}
	if err := grant.Check(); err != nil {
		return Entry{}, err
	}
	err := s.update(func(f *file) error {
		if i := f.find(e.ClientID); i >= 0 {
			old := &f.Entries[i]
			old.Label, old.Grant = e.Label, e.Grant
			e = *old
			return nil
		}
		if len(f.Entries) >= MaxEntries {
			return ErrFull
		}
		f.Entries = append(f.Entries, e)
		return nil
	})
	return e, err
}

// Pair lets an entry in that has redeemed a code, and returns it as it is stored: under its
// label, with a number where another one has that. With an
// address it waits to be confirmed; one that is confirmed already stays as it is, and
// without an address it gets the grant if that is more than it has. A full list is
// [ErrFull], or [ErrCrowded] where too many wait.
func (s *Store) Pair(publicKey []byte, label string, grant protocol.Grant, address string) (Entry, error) {
	if len(publicKey) != keySize {
		return Entry{}, fmt.Errorf("the key of an entry has %d bytes, not %d", keySize, len(publicKey))
	}
	if err := grant.Check(); err != nil {
		return Entry{}, err
	}
	e := Entry{ClientID: protocol.ClientIDOf(publicKey), PublicKey: slices.Clone(publicKey), Label: cmp.Or(CleanLabel(label), "browser"), Grant: grant,
		AddedAt: s.now().UnixMilli(), Pending: address != "", Address: CleanLabel(address[:min(len(address), maxAddress)])}
	err := s.update(func(f *file) error {
		i := f.find(e.ClientID)
		if i >= 0 && !f.Entries[i].Pending {
			old := &f.Entries[i]
			if !e.Pending && !old.Grant.Allows(e.Grant) {
				old.Grant = e.Grant
			}
			e = *old
			return nil
		}
		if i >= 0 {
			f.Entries = slices.Delete(f.Entries, i, i+1)
		}
		if e.Pending {
			waiting := 0
			for _, o := range f.Entries {
				if o.Pending {
					waiting++
				}
			}
			if waiting >= MaxPending {
				return ErrCrowded
			}
		}
		if len(f.Entries) >= MaxEntries {
			return ErrFull
		}
		e.Label = f.free(e.Label)
		f.Entries = append(f.Entries, e)
		return nil
	})
	return e, err
}

// Confirm lets an entry in that waits for it, and returns what it may do now. One that
// does not wait stays as it is. It fails with [ErrUnknown].
func (s *Store) Confirm(id protocol.ClientID) (grant protocol.Grant, err error) {
	err = s.change(id, func(e *Entry) {
		e.Pending, e.Address = false, ""
		grant = e.Grant
	})
	return grant, err
}

// Rename returns an entry another label, cleaned. It fails with [ErrUnknown] or
// [ErrLabel].
func (s *Store) Rename(id protocol.ClientID, label string) error {
	if label = CleanLabel(label); label == "" {
		return ErrLabel
	}
	return s.change(id, func(e *Entry) { e.Label = label })
}

// SetGrant changes what an entry may do. It fails with [ErrUnknown], with [ErrPending] for
// one that waits to be confirmed, or for what is no grant.
func (s *Store) SetGrant(id protocol.ClientID, grant protocol.Grant) error {
	if err := grant.Check(); err != nil {
		return err
	}
	return s.update(func(f *file) error {
		i := f.find(id)
		switch {
		case i < 0:
			return ErrUnknown
		case f.Entries[i].Pending:
			return ErrPending
		}
		f.Entries[i].Grant = grant
		return nil
	})
}

// Revoke takes an entry off the list. It fails with [ErrUnknown].
func (s *Store) Revoke(id protocol.ClientID) error {
	return s.update(func(f *file) error {
		i := f.find(id)
		if i < 0 {
			return ErrUnknown
		}
		f.Entries = slices.Delete(f.Entries, i, i+1)
		return nil
	})
}

// Seen notes that an entry came in now; a time less than an hour old stays. It
// fails with [ErrUnknown].
func (s *Store) Seen(id protocol.ClientID) error {
	now := s.now().UnixMilli()
	recent := func(e Entry) bool { return now >= e.LastSeen && now-e.LastSeen < seenEvery.Milliseconds() }
	e, ok, err := s.Get(id)
	switch {
	case err != nil:
		return err
	case !ok:
		return ErrUnknown
	case recent(e):
		return nil // without the lock: this is the usual case
	}
	return s.change(id, func(e *Entry) {
		if !recent(*e) {
			e.LastSeen = now
		}
	})
}

func (s *Store) change(id protocol.ClientID, do func(*Entry)) error {
	return s.update(func(f *file) error {
		i := f.find(id)
		if i < 0 {
			return ErrUnknown
		}
		do(&f.Entries[i])
		return nil
	})
}

func (s *Store) update(change func(*file) error) error {
	return disk.Update(s.fs, s.name, maxFile, func(old []byte) ([]byte, error) {
		f, err := parse(old)
		if err != nil {
			return nil, &DamagedError{s.name, err}
		}
		f.expire(s.now())
		if err := change(&f); err != nil {
			return nil, err
		}
		return f.marshal()
	})
}

func (s *Store) read() (file, error) {
	data, err := disk.ReadFile(s.fs, s.name, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return file{Version: 1}, nil
	}
	if err != nil {
		return file{}, err
	}
	f, err := parse(data)
	if err != nil {
		return file{}, &DamagedError{s.name, err}
	}
	f.expire(s.now())
	return f, nil
}
