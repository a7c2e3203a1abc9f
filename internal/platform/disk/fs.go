package disk

import (
	"errors"
	"io/fs"
)

// FS is the file system as the stores of Scorel use it. Every call that changes
// something names what it needs to be durable: new names need SyncDir on their
// folder, contents need File.Sync.
type FS interface {
	// Open opens name for reading and writing. With create it makes the file
	// (mode 0600) when there is none; exclusive makes an existing file an error
	// that is [fs.ErrExist]. A pipe is an error at once. A link that leads to no file is
	// [ErrNowhere], and not [fs.ErrNotExist]; so is a file in such a folder.
	Open(name string, flag OpenFlag) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	// MkdirAll makes name and its parents with mode 0700.
	MkdirAll(name string) error
	ReadDir(name string) ([]fs.DirEntry, error) // also [ErrNowhere]
	// Stat follows links, as Open does, with its errors.
	Stat(name string) (fs.FileInfo, error)
	// Touch makes now the time of a file's last change.
	Touch(name string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(name string) error
	// Lock takes the exclusive advisory lock of name, creating the file when
	// there is none, and writes owner into it. A lock that somebody else holds
	// gives a *LockedError with the owner's text. The file is never removed. On a full disk
	// that is no remote one the lock is taken without the text.
	Lock(name string, owner []byte) (Unlocker, error)
	// Holder reports whether somebody holds the lock of name, and gives the owner's
	// text. It takes and changes nothing; a missing file is not held.
	Holder(name string) (owner []byte, held bool, err error)
	// Free returns the bytes that an ordinary user can still write below name.
	Free(name string) (uint64, error)
}

// OpenFlag returns how a file is opened.
type OpenFlag int

// The ways to open a file.
const (
	ReadOnly  OpenFlag = iota // must exist
	ReadWrite                 // must exist
	Create                    // read and write, made when missing
	Exclusive                 // read and write, must not exist
)

// File is an open file. WriteAt and ReadAt may be called concurrently; Truncate,
// Sync and Close by one caller at a time.
type File interface {
	ReadAt(p []byte, off int64) (int, error)
	WriteAt(p []byte, off int64) (int, error)
	Truncate(size int64) error
	// Sync returns when all that was written is on stable storage. After it has
	// failed nothing that was written since the last success may be trusted.
	Sync() error
	Size() (int64, error)
	Close() error
}

// Unlocker is a held lock.
type Unlocker interface {
	Unlock() error
	// Held returns a *LockedError once somebody else has taken the lock over: the machine
	// slept for longer than others wait for its owner. It is cheap, and asked before each
	// write that the lock guards.
	Held() error
}

// LockedError returns who holds a lock.
type LockedError struct {
	Name  string // the lock file
	Owner []byte // what the owner wrote
}

func (e *LockedError) Error() string { return e.Name + " is locked" }

// ErrNowhere is in the chain of errors about a link that leads to no file.
var ErrNowhere = errors.New("it is a link that leads nowhere; correct it or remove it")

// ErrNoSpace is in the chain of errors that say that the disk or quota is full.
var ErrNoSpace = errors.New("no space left on device")
