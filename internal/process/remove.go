package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"scorel/internal/disk"
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

// remove removes a folder of logs and gives the bytes that were in it.
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

// Prune removes the logs of sessions that exist no more, as far as nothing was added
// since a time, and says of how many sessions and how many bytes they were.
func Prune(ctx context.Context, fsys disk.FS, home string, before time.Time, exists func(protocol.SessionID) (bool, error)) (sessions int, bytes int64, err error) {
	dirs, err := fsys.ReadDir(filepath.Join(home, Folder))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("prune the process logs: %w", err)
	}
	for _, d := range dirs {
		if err := ctx.Err(); err != nil {
			return sessions, bytes, err
		}
		id := protocol.SessionID(d.Name())
		info, err := d.Info()
		if id.Check() != nil || err != nil || !info.ModTime().Before(before) {
			continue
		}
		switch there, err := exists(id); {
		case err != nil:
			return sessions, bytes, err
		case there:
			continue
		}
		n, err := remove(fsys, Dir(home, id))
		if err != nil {
			return sessions, bytes, err
		}
		sessions++
		bytes += n
	}
	return sessions, bytes, nil
}
