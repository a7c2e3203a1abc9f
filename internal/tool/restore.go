package tool

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// RestoreItem is one file to take back: how it was before, and how the agent
// left it. Of several snapshots of a path the caller gives the oldest, with the
// hash that the newest Write or Edit left.
type RestoreItem struct {
	Path       string // absolute
	Existed    bool
	Restorable bool
	Mode       uint32
	// Content opens the old content; it is called at most once, and only when
	// the file existed.
	Content    func() (io.ReadCloser, error)
	LeftSHA256 string
}

// RestoreOutcome says what became of one file; Why is "" when it was restored.
type RestoreOutcome struct {
	Path string
	Why  string
}

// Restore takes files back to how they were. Only those are touched that still
// are as the agent left them; a file that did not exist is removed. The others
// are listed with the reason. After ctx has ended nothing more is touched.
func Restore(ctx context.Context, files *Files, items []RestoreItem) (restored, skipped []RestoreOutcome) {
	for _, item := range items {
		if err := restore(ctx, files, item); err != nil {
			skipped = append(skipped, RestoreOutcome{item.Path, err.Error()})
			continue
		}
		restored = append(restored, RestoreOutcome{Path: item.Path})
	}
	return restored, skipped
}

func restore(ctx context.Context, files *Files, item RestoreItem) error {
	if !item.Restorable {
		return errors.New("no copy was kept")
	}
	t, err := files.open(item.Path, true)
	if err != nil {
		return err
	}
	defer t.close()
	switch {
	case t.path.Abs != item.Path:
		return errors.New("a symbolic link leads to another file now")
	case !t.exists():
		if !item.Existed {
			return nil
		}
		return errors.New("it was deleted since")
	case t.file == nil:
		return errors.New("it is a folder now")
	}
	now, err := t.content(ctx)
	if err != nil {
		return err
	}
	if sum(now) != item.LeftSHA256 {
		return errors.New("it was changed since")
	}
	if !item.Existed {
		if !t.inPlace() {
			return errors.New("it was replaced since")
		}
		return unix.Unlinkat(int(t.dir.Fd()), t.base, 0)
	}
	old, err := item.Content()
	if err != nil {
		return fmt.Errorf("its old content cannot be read: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(old, maxSnapshot+1))
	if cerr := old.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("its old content cannot be read: %w", err)
	}
	if len(data) > maxSnapshot {
		return errors.New("its old content is too long")
	}
	if err := t.unchanged(ctx, now); err != nil {
		return err
	}
	if err := t.overwrite(data, now); err != nil {
		return err
	}
	if uint32(t.info.Mode().Perm()) == item.Mode {
		return nil
	}
	if err := unix.Fchmod(int(t.file.Fd()), item.Mode&0o777); err != nil {
		return fmt.Errorf("its content is restored, its mode is not: %w", err)
	}
	return nil
}
