package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// How long [WaitLock] tries, and how often.
const (
	lockPatience = 10 * time.Second
	lockInterval = 3 * time.Millisecond
)

// ReadFile reads a whole file of at most limit bytes. A missing file is
// [io/fs.ErrNotExist]. A link that leads nowhere is an empty file: what it led to is lost, and
// who writes its files whole takes it for damaged, as [Blank] says.
func ReadFile(fsys FS, name string, limit int64) ([]byte, error) {
	data, err := ReadEdited(fsys, name, limit)
	if path := (*fs.PathError)(nil); errors.Is(err, ErrNowhere) && errors.As(err, &path) && path.Path == name {
		return []byte{}, nil
	}
	return data, err
}

// ReadEdited reads a file that people edit, as ReadFile; a link that leads nowhere is
// [ErrNowhere], for it to be told.
func ReadEdited(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name, ReadOnly)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > limit {
		return nil, &LongError{name, size, limit}
	}
	data := make([]byte, size)
	if n, err := f.ReadAt(data, 0); err != nil && (!errors.Is(err, io.EOF) || int64(n) < size) {
		return nil, err
	}
	return data, nil
}

// LongError is the error of a file that has more bytes than are read of it.
type LongError struct {
	Name        string
	Size, Limit int64 // bytes
}

func (e *LongError) Error() string {
	return fmt.Sprintf("%s has %d bytes; at most %d are read", e.Name, e.Size, e.Limit)
}

// WaitLock takes a lock that is only ever held for a moment, waiting up to 10 s
// for who holds it.
func WaitLock(fsys FS, name string) (Unlocker, error) {
	owner := fmt.Appendf(nil, "pid %d", os.Getpid())
	deadline := time.Now().Add(lockPatience)
	for {
		l, err := fsys.Lock(name, owner)
		var held *LockedError
		if err == nil || !errors.As(err, &held) || time.Now().After(deadline) {
			return l, err
		}
		time.Sleep(lockInterval)
	}
}

// Update changes a file that several processes share: under the lock beside it
// (name.lock) it is read, handed to change (nil when missing), and replaced by
// what change returns, all or nothing. The same bytes back write nothing.
func Update(fsys FS, name string, limit int64, change func(old []byte) ([]byte, error)) error {
	return update(fsys, name+".lock", name, limit, change)
}

// UpdatePersonal is [Update] for a file that a person edits: it is written where [Personal]
// says, under the lock beside name.
func UpdatePersonal(fsys FS, name string, limit int64, change func(old []byte) ([]byte, error)) error {
	target, err := Personal(name)
	if err != nil {
		return err
	}
	return update(fsys, name+".lock", target, limit, change)
}

func update(fsys FS, lock, name string, limit int64, change func(old []byte) ([]byte, error)) error {
	l, err := WaitLock(fsys, lock)
	if err != nil {
		return err
	}
	defer func() { _ = l.Unlock() }()
	old, err := ReadFile(fsys, name, limit)
	if errors.Is(err, os.ErrNotExist) {
		old, err = nil, nil
	}
	if err != nil {
		return err
	}
	data, err := change(old)
	if err != nil || (old != nil && string(data) == string(old)) {
		return err
	}
	return WriteFile(fsys, name, data)
}
