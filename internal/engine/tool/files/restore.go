package files

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// RestoreItem is one file to take back: how it was before, and how the agent
// left it. Of several snapshots of a path the caller gives the oldest, with what
// the newest Write or Edit left.
type RestoreItem struct {
	Path       string // absolute
	Existed    bool
	Restorable bool
	Mode       uint32
	SHA256     string // of the old content, when it existed and is restorable
	// Content reads the old content, whole and checked; it is called at most once, only
	// when the file existed, and before anything is written.
	Content func(ctx context.Context, limit int64) ([]byte, error)
	// Left is how the agent left it, nil when that is not known.
	Left *LeftFile
	// Changed says why the file is left alone though it may be as the agent left it;
	// "" when it is not.
	Changed string
	// Named says that a person has named the file: it is taken back though somebody
	// changed it since.
	Named bool
}

// LeftFile is a file as the agent left it. A Mode of 0 is not known.
type LeftFile struct {
	SHA256 string
	Mode   uint32
}

// RestoreOutcome is a file that was left alone, and why. Offered says that it can be
// taken back when a person names it.
type RestoreOutcome struct {
	Path    string
	Why     string
	Offered bool
}

// Restored says what became of files: what has its old content again, what was removed
// because it did not exist, and what was left alone. A file that was as before already
// is in none of these.
type Restored struct {
	Restored, Removed []string
	Skipped           []RestoreOutcome
}

// Restore takes files back to how they were: content and mode. Only those are touched
// that still are as the agent left them, in content, mode and existence, and those that
// a person has named; the others are listed with the reason. After ctx has ended nothing
// more is touched.
func Restore(ctx context.Context, files *Files, items []RestoreItem) (out Restored) {
	for _, item := range items {
		done, err := restore(ctx, files, item)
		var theirs *theirsError
		switch {
		case errors.As(err, &theirs):
			out.Skipped = append(out.Skipped, RestoreOutcome{item.Path, err.Error(), item.Restorable})
		case err != nil:
			out.Skipped = append(out.Skipped, RestoreOutcome{item.Path, err.Error(), false})
		case done == restoredIt:
			out.Restored = append(out.Restored, item.Path)
		case done == removedIt:
			out.Removed = append(out.Removed, item.Path)
		}
	}
	return out
}

// theirsError says that somebody else's work stands in a file.
type theirsError struct{ why string }

func (e *theirsError) Error() string { return e.why }

// What came of a file.
const (
	wasSo = iota
	restoredIt
	removedIt
)

func restore(ctx context.Context, files *Files, item RestoreItem) (done int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	t, err := files.Open(item.Path, true)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	switch {
	case t.Path.Abs != item.Path:
		return 0, errors.New("a symbolic link leads to another file now")
	case t.Exists() && t.File == nil:
		return 0, errors.New("it is a folder now")
	}
	var now []byte
	if t.Exists() {
		if now, err = t.Content(ctx); err != nil {
			return 0, err
		}
	}
	switch {
	case t.asBefore(item, now):
		return wasSo, nil
	case !item.Restorable:
		return 0, errors.New("no copy was kept")
	case !item.Named:
		if err := t.asLeft(item, now); err != nil {
			return 0, err
		}
	}
	if !item.Existed {
		if !t.inPlace() {
			return 0, errors.New("it was replaced since")
		}
		return removedIt, unix.Unlinkat(int(t.dir.Fd()), t.base, 0)
	}
	data, err := item.Content(ctx, MaxSnapshot)
	if err != nil {
		return 0, fmt.Errorf("nothing was written: %w", err)
	}
	if t.Exists() {
		if err := t.Unchanged(ctx, now); err != nil {
			return 0, err
		}
	}
	if !t.Exists() || Sum(now) != Sum(data) { // content and mode in one step, which a kill cannot cut in two
		if err := t.put(files, data, now, t.modeBits()&^os.ModePerm|os.FileMode(item.Mode&0o777)); err != nil {
			return 0, err
		}
	}
	return restoredIt, t.chmod(item.Mode)
}

// asBefore reports whether the file is what it is to be taken back to.
func (t *Target) asBefore(item RestoreItem, now []byte) bool {
	if !t.Exists() || !item.Existed {
		return t.Exists() == item.Existed
	}
	return item.Restorable && Sum(now) == item.SHA256 && uint32(t.Info.Mode().Perm()) == item.Mode
}

// asLeft says with a theirsError why a file is not as the agent left it.
func (t *Target) asLeft(item RestoreItem, now []byte) error {
	switch {
	case !t.Exists():
		return &theirsError{"it was deleted since"}
	case item.Changed != "":
		return &theirsError{item.Changed}
	case item.Left == nil:
		return &theirsError{"it is not known how the agent left it"}
	case Sum(now) != item.Left.SHA256:
		return &theirsError{"it was changed since"}
	case item.Left.Mode != 0 && uint32(t.Info.Mode().Perm()) != item.Left.Mode:
		return &theirsError{fmt.Sprintf("its mode was changed since, from %#o to %#o", item.Left.Mode, t.Info.Mode().Perm())}
	}
	return nil
}

// chmod returns the file its old mode.
func (t *Target) chmod(mode uint32) error {
	if t.Mode() == mode&0o777 {
		return nil
	}
	file := t.File
	if file == nil { // made just now
		made, err := openAt(t.dir, t.base, unix.O_RDONLY|unix.O_NONBLOCK, 0, t.Path.Abs)
		if err != nil {
			return fmt.Errorf("its content is restored, its mode is not: %w", err)
		}
		defer made.Close()
		file = made
	}
	if err := unix.Fchmod(int(file.Fd()), mode&0o777); err != nil {
		return fmt.Errorf("its content is restored, its mode is not: %w", err)
	}
	return nil
}
