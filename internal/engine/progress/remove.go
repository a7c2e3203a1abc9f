package progress

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"scorel/internal/platform/disk"
	"scorel/protocol"
)

// Remove removes the logs of a session. Without any it does nothing.
func Remove(fsys disk.FS, home string, id protocol.SessionID) error {
	if err := id.Check(); err != nil { // a path is made of it
		return err
	}
	_, err := remove(fsys, Dir(home, id))
	return err
}

// remove removes a folder of logs and returns the bytes that were in it.
func remove(fsys disk.FS, dir string) (bytes int64, err error) {
	files, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("remove the process logs: %w", err)
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			bytes += info.Size()
		}
		if err := fsys.Remove(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("remove the process logs: %w", err)
		}
	}
	if err := fsys.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("remove the process logs: %w", err)
	}
	return bytes, nil
}

// Usage is how much room logs take.
type Usage struct {
	Sessions int
	Bytes    int64
	Left     int   // sessions that exist no more; [Prune] would remove their logs
	LeftSize int64 // theirs, in bytes
}

// maxUsage bounds the files that are counted.
const maxUsage = 5000

// Look counts the logs, at most 5,000 files: beyond, or when ctx ends, what was
// counted so far is given. Of which sessions they are left is as Prune says.
func Look(ctx context.Context, fsys disk.FS, home string, before time.Time, exists func(protocol.SessionID) (bool, error)) (Usage, error) {
	var u Usage
	files := 0
	err := each(fsys, home, func(id protocol.SessionID, old bool) error {
		logs, err := fsys.ReadDir(Dir(home, id))
		if err != nil {
			return err
		}
		var size int64
		for _, f := range logs {
			if files++; files > maxUsage || ctx.Err() != nil {
				return fs.SkipAll
			}
			if info, err := f.Info(); err == nil {
				size += info.Size()
			}
		}
		u.Sessions++
		u.Bytes += size
		if !old {
			return nil
		}
		there, err := exists(id)
		if err == nil && !there {
			u.Left++
			u.LeftSize += size
		}
		return err
	}, before)
	return u, err
}

// each returns the sessions that have logs, and whether nothing was added to them since a
// time. It ends with fs.SkipAll, which is no error.
func each(fsys disk.FS, home string, do func(id protocol.SessionID, old bool) error, before time.Time) error {
	dirs, err := fsys.ReadDir(filepath.Join(home, Folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the process logs: %w", err)
	}
	for _, d := range dirs {
		id := protocol.SessionID(d.Name())
		info, err := d.Info()
		if id.Check() != nil || err != nil {
			continue
		}
		if err := do(id, info.ModTime().Before(before)); errors.Is(err, fs.SkipAll) {
			return nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) { // gone meanwhile
			return fmt.Errorf("look at the process logs: %w", err)
		}
	}
	return nil
}

// Prune removes the logs of sessions that exist no more, as far as nothing was added
// since a time, and says of how many sessions and how many bytes they were.
func Prune(ctx context.Context, fsys disk.FS, home string, before time.Time, exists func(protocol.SessionID) (bool, error)) (sessions int, bytes int64, err error) {
	err = each(fsys, home, func(id protocol.SessionID, old bool) error {
		if err := ctx.Err(); err != nil || !old {
			return err
		}
		there, err := exists(id)
		if err != nil || there {
			return err
		}
		n, err := remove(fsys, Dir(home, id))
		if err != nil {
			return err
		}
		sessions++
		bytes += n
		return nil
	}, before)
	return sessions, bytes, err
}
