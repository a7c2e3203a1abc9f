package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// OS returns the file system of the machine. Interrupted calls are repeated and
// short writes continued; a full disk or quota is [ErrNoSpace]. All methods may
// be called concurrently.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) Open(name string, flag OpenFlag) (File, error) {
	mode := os.O_RDWR
	switch flag {
	case ReadOnly:
		mode = os.O_RDONLY
	case Create:
		mode |= os.O_CREATE
	case Exclusive:
		mode |= os.O_CREATE | os.O_EXCL
	}
	// Whoever puts a pipe where a file is expected has nobody wait for its other end.
	f, err := os.OpenFile(name, mode|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, spaceError(nowhere(err, name))
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO {
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: errPipe}
	}
	return osFile{f}, nil
}

var errPipe = errors.New("it is a pipe and not a file; remove it")

func (osFS) Rename(from, to string) error { return spaceError(os.Rename(from, to)) }
func (osFS) Remove(name string) error     { return spaceError(os.Remove(name)) }

func (osFS) MkdirAll(name string) error {
	return spaceError(nowhere(os.MkdirAll(name, 0o700), name))
}

func (osFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := os.ReadDir(name)
	return list, nowhere(err, name)
}

func (osFS) Stat(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	return info, nowhere(err, name)
}

// nowhere returns why a file is not found or a folder cannot be made: [ErrNowhere] where its
// name, or its folder, is a link to nothing.
func nowhere(err error, name string) error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, at := range []string{name, filepath.Dir(name)} {
		info, lerr := os.Lstat(at)
		if lerr != nil {
			continue
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return err
		}
		if _, serr := os.Stat(at); errors.Is(serr, fs.ErrNotExist) {
			return &fs.PathError{Op: "open", Path: at, Err: ErrNowhere}
		}
	}
	return err
}

func (osFS) Touch(name string) error {
	now := time.Now()
	return spaceError(os.Chtimes(name, now, now))
}

func (osFS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil // a file system that has no folder sync keeps names by itself
	}
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return spaceError(err)
}

func (osFS) Free(name string) (uint64, error) {
	var st unix.Statfs_t
	for {
		err := unix.Statfs(name, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, &fs.PathError{Op: "statfs", Path: name, Err: err}
		}
		return st.Bavail * uint64(st.Bsize), nil
	}
}

func (osFS) Lock(name string, owner []byte) (Unlocker, error) {
	return systemLocker().lock(name, owner)
}

func (osFS) Holder(name string) ([]byte, bool, error) {
	return systemLocker().holder(name)
}

type osFile struct{ f *os.File }

func (o osFile) ReadAt(p []byte, off int64) (int, error) { return o.f.ReadAt(p, off) }

func (o osFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := o.f.WriteAt(p, off)
	return n, spaceError(err)
}

func (o osFile) Truncate(size int64) error { return spaceError(o.f.Truncate(size)) }
func (o osFile) Sync() error               { return spaceError(o.f.Sync()) }
func (o osFile) Close() error              { return spaceError(o.f.Close()) }

func (o osFile) Size() (int64, error) {
	info, err := o.f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// spaceError puts ErrNoSpace into the chain of errors of a full disk or quota.
func spaceError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

// WriteFile replaces name by data, all or nothing: a temporary file in the same
// folder, synced, renamed over name, and the folder synced. The mode is 0600.
// When it has failed name is as it was, except that a failed last step (the
// folder's sync) leaves the new content with a name that is not yet durable.
func WriteFile(fsys FS, name string, data []byte) error {
	f, tmp, err := Temp(fsys, name)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(tmp, name)
	}
	if err != nil {
		_ = fsys.Remove(tmp) // what is left over is removed by the next prune
		return err
	}
	return fsys.SyncDir(filepath.Dir(name))
}
