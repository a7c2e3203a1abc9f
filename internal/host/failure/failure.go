package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"scorel/internal/engine/session"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Of turns any error of the engine into what a client is told.
func Of(err error) *protocol.Error {
	var pe *protocol.Error
	var locked *session.LockedError
	var blob *session.BlobError
	var removed *session.RemovedError
	switch {
	case errors.As(err, &pe):
		return pe
	case errors.As(err, &locked):
		return protocol.About("sessionId", protocol.ReasonElsewhere, protocol.CodeSessionLocked, "The session %s is in use by %s; wait for it, or work on a copy.", locked.SessionID, locked.Owner)
	case errors.As(err, &removed):
		return protocol.Errorf(protocol.CodeSessionLocked, "%s.", Sentence(removed))
	case errors.As(err, &blob) && errors.Is(err, session.ErrNoBlob):
		return protocol.Errorf(protocol.CodeStorageError, "The payload %.64s is missing here; verifying the session names all that it lacks.", blob.SHA256)
	case errors.As(err, &blob) && errors.Is(err, session.ErrDamagedBlob):
		return protocol.Errorf(protocol.CodeStorageError, "The payload %.64s is damaged here: its bytes are not those that its name says. Verifying the session names all such payloads.", blob.SHA256)
	case errors.Is(err, session.ErrNotFound):
		return protocol.About("sessionId", "", protocol.CodeSessionNotFound, "There is no such session here.")
	case errors.Is(err, session.ErrUnknownEvent), errors.Is(err, session.ErrNotTarget):
		return protocol.Errorf(protocol.CodeInvalidEventID, "%s.", Sentence(err))
	case errors.Is(err, session.ErrExists):
		return protocol.Errorf(protocol.CodeConflict, "A session of that id exists already.")
	case errors.Is(err, session.ErrReadOnly), errors.Is(err, session.ErrStorage), errors.Is(err, disk.ErrNoSpace):
		return Storage("", err)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return Storage("", err)
	}
	return protocol.AsError(err)
}

// Storage says that something could not be stored, and what to do.
func Storage(what string, err error) *protocol.Error {
	var pe *protocol.Error
	if errors.As(err, &pe) {
		return pe
	}
	if what != "" {
		what = "Cannot " + what + ": "
	}
	hint := ""
	switch {
	case errors.Is(err, disk.ErrNoSpace):
		hint = " Free some space and try again."
	case errors.Is(err, fs.ErrPermission) && closedFile(err) != "":
		hint = fmt.Sprintf(" Make the file yours again: chmod u+rw %s.", closedFile(err))
	case errors.Is(err, fs.ErrPermission), isReadOnlyFS(err):
		hint = " Make the folder writable, or have the home folder on a disk that is."
	}
	if what == "" {
		return protocol.Errorf(protocol.CodeStorageError, "%s.%s", Sentence(err), hint)
	}
	return protocol.Errorf(protocol.CodeStorageError, "%s%v.%s", what, Plain(err), hint)
}

// closedFile returns the file that is there and that an error says may not be opened, "" when
// it is its folder that is closed.
func closedFile(err error) string {
	var path *fs.PathError
	if !errors.As(err, &path) || path.Op != "open" {
		return ""
	}
	if info, err := os.Stat(path.Path); err != nil || info.IsDir() {
		return ""
	}
	return path.Path
}

// UnknownOutcome is the answer to a repeat of which nobody can say now whether it was
// handled. Who took it for a refusal would ask for the same again.
func UnknownOutcome(err error) error {
	pe := Of(err)
	return protocol.Errorf(pe.Code, "Whether this was done before the connection broke cannot be found out now (%s); look at the session before you ask for it again.",
		strings.TrimSuffix(pe.Message, "."))
}

// Inside is what a client is told whose request met a panic.
func Inside() *protocol.Error {
	return protocol.Errorf(protocol.CodeInternalError, "A fault inside Scorel ended this request; the host continues, and its diagnostics name the place.")
}
