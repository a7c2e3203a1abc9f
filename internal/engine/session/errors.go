package session

import (
	"errors"
	"fmt"

	"scorel/internal/engine/session/owner"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

var (
	// ErrNotFound is in the chain when there is no log or blob of that name.
	ErrNotFound = errors.New("not found")
	// ErrNoBlob is in the chain, with ErrNotFound, when there is no blob of a name.
	ErrNoBlob = fmt.Errorf("the payload is missing: %w", ErrNotFound)
	// ErrDamagedBlob is in the chain when a blob has other content than its name says.
	ErrDamagedBlob = errors.New("the payload is damaged")
	// ErrReadOnly is in the chain when a log takes no events until a person has
	// acted; [Log.ReadOnly] gives the reason.
	ErrReadOnly = errors.New("the session is read-only")
	// ErrStorage is in the chain when the disk has failed: events could not be made durable,
	// or a log could not be opened. None of a commit is stored then; a later one may succeed.
	ErrStorage = errors.New("the session log could not be written")
	// ErrExists is in the chain when a log of that id exists already.
	ErrExists = errors.New("the session exists already")
	// ErrUnknownEvent is in the chain when a log holds no event of that id.
	ErrUnknownEvent = errors.New("the session has no such event")
	// ErrNotTarget is in the chain when an event cannot be rewound to.
	ErrNotTarget = errors.New("not a place to rewind to")
	// ErrTooLarge is in the chain when a blob is larger than [MaxBlob].
	ErrTooLarge = errors.New("too large")
	// ErrClosed is in the chain when a log or view is used after Close.
	ErrClosed = errors.New("the session is closed")
)

// storageError is [ErrStorage] in the words of what failed.
type storageError string

// What fails besides writing a log.
const (
	errUnopened = storageError("the session log could not be opened")
	errUndone   = storageError("the session could not be deleted")
	errUnstored = storageError("the payload could not be stored")
)

func (e storageError) Error() string { return string(e) }

// Is reports that it is ErrStorage.
func (storageError) Is(target error) bool { return target == ErrStorage }

// BlobError is in the chain of errors about one blob.
type BlobError struct {
	SHA256 string // what was asked for; it need not be a name
	Err    error
}

func (e *BlobError) Error() string { return fmt.Sprintf("payload %.80s: %v", e.SHA256, e.Err) }

// Unwrap returns Err.
func (e *BlobError) Unwrap() error { return e.Err }

// LockedError says that another process, or another part of this one, is the
// writer of a session.
type LockedError struct {
	SessionID protocol.SessionID
	Owner     owner.Owner
}

func (e *LockedError) Error() string {
	return "session " + string(e.SessionID) + " is in use by " + e.Owner.String()
}

// removedLog says for people what [RemovedError] is about.
const removedLog = "Its log was removed while the session is open, and is written again with its next event, or when it is closed"

// RemovedError says that a log was removed while a process is the writer of its session.
type RemovedError struct {
	SessionID protocol.SessionID
	Owner     owner.Owner
}

func (e *RemovedError) Error() string {
	return "session " + string(e.SessionID) + " is open in " + e.Owner.String() + ": " + removedLog
}

// lockError turns a refused lock into a LockedError.
func lockError(id protocol.SessionID, err error) error {
	var held *disk.LockedError
	if errors.As(err, &held) {
		return &LockedError{SessionID: id, Owner: owner.Parse(held.Owner)}
	}
	return err
}
