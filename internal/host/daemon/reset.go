package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"scorel/internal/engine/session/owner"
	"scorel/internal/platform/disk"
)

// Leftovers returns the files of a host that ended, with the token and the
// certificate, as far as they are there.
func Leftovers(dir string) []string {
	var names []string
	for _, name := range []string{infoName, socketName, headerName, certName, keyName} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			names = append(names, filepath.Join(dir, name))
		}
	}
	return names
}

// Reset removes the [Leftovers]. It holds the lock meanwhile, so it fails while a
// host lives and none begins.
func Reset(dir string) error {
	owner := owner.Owner{PID: os.Getpid(), Command: "scorel host reset"}
	lock, err := disk.OS().Lock(filepath.Join(dir, lockName), owner.Text())
	var held *disk.LockedError
	if errors.As(err, &held) {
		info, _, _ := Find(dir)
		return fmt.Errorf("%v runs; stop it first with scorel host stop", info)
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	for _, name := range Leftovers(dir) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
