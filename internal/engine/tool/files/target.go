package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"scorel/internal/engine/permission"
)

// Target is a resolved path with a handle on its folder.
type Target struct {
	Path    permission.Path
	dir     *os.File // the deepest folder that existed
	missing []string // folders below dir that do not exist yet
	base    string
	Info    fs.FileInfo // nil when there is nothing at the path
	File    *os.File    // nil unless it is a regular file
}

// Exists reports whether there is something at the path.
func (t *Target) Exists() bool { return t.Info != nil }

// Close releases the handles. It may be called again.
func (t *Target) Close() {
	if t.File != nil {
		t.File.Close()
	}
	if t.dir != nil {
		t.dir.Close()
	}
}

// Open resolves path and opens what is there, for reading and, with write, for
// writing too; it makes and changes nothing. A folder is given without a file.
// Scorel's own folder and whatever is neither file nor folder are errors. The
// caller closes the target.
func (f *Files) Open(path string, write bool) (t *Target, err error) {
	abs, err := f.Absolute(path)
	if err != nil {
		return nil, err
	}
	have, missing, err := resolve(abs)
	if err != nil {
		return nil, Explain(abs, err)
	}
	t = &Target{Path: f.describe(filepath.Join(append([]string{have}, missing...)...)).As(abs)}
	readable := t.Path.Skill && !write
	if t.Path.OutOfReach && !readable {
		return nil, outOfReach(t.Path.Abs)
	}
	parent := have
	switch {
	case len(missing) > 0:
		t.missing, t.base = missing[:len(missing)-1], missing[len(missing)-1]
	case have == "/":
		t.base = "."
	default:
		parent, t.base = filepath.Dir(have), filepath.Base(have)
	}
	defer func() {
		if err != nil {
			t.Close()
			t = nil
		}
	}()
	if t.dir, err = f.openDir(parent); err != nil {
		return t, Explain(abs, err)
	}
	if real, err := realPath(t.dir); err != nil || real != parent {
		return t, fmt.Errorf("%s changed while it was being opened; try again", abs)
	}
	if !readable && f.holds(t.dir) {
		return t, outOfReach(t.Path.Abs)
	}
	if InProc(t.dir) {
		return t, fmt.Errorf("%s belongs to the kernel or a process and cannot be used as a file", abs)
	}
	if len(missing) == 0 {
		if err := t.openFile(f, write); err != nil {
			return t, Explain(t.Path.Abs, err)
		}
	}
	return t, nil
}

// openDir opens a resolved folder: through the workspace's root when it is
// inside, so that no link leads out, and as it is otherwise. A workspace that was removed and
// made again is opened again; a link in its place is not: what its handle has is no longer there,
// which the caller finds.
func (f *Files) openDir(path string) (*os.File, error) {
	for _, r := range f.roots {
		if !Within(path, r.path) {
			continue
		}
		rel, err := filepath.Rel(r.path, path)
		if err != nil {
			return nil, err
		}
		root := r.root
		was, err := root.Stat(".")
		if now, nerr := os.Lstat(r.path); nerr == nil && now.IsDir() && (err != nil || !os.SameFile(was, now)) {
			if root, err = os.OpenRoot(r.path); err != nil {
				return nil, err
			}
			defer root.Close()
		}
		return root.OpenFile(rel, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	}
	return os.OpenFile(path, openPath|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
}

// openFile opens what is at base now. Only regular files are opened: to open
// a device can have an effect, to open a pipe can hang.
func (t *Target) openFile(f *Files, write bool) error {
	var st unix.Stat_t
	if err := unix.Fstatat(int(t.dir.Fd()), t.base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFDIR:
	case unix.S_IFLNK:
		return ErrSwapped
	default:
		return errors.New("it is a device, pipe or socket, which cannot be used as a file")
	}
	flag := unix.O_RDONLY
	if write && st.Mode&unix.S_IFMT == unix.S_IFREG {
		flag = unix.O_RDWR
	}
	file, err := openAt(t.dir, t.base, flag|unix.O_NONBLOCK, 0, t.Path.Abs)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok || sys.Ino != st.Ino || uint64(sys.Dev) != uint64(st.Dev) {
		file.Close()
		return ErrSwapped
	}
	t.Info = info
	if info.IsDir() {
		defer file.Close()
		if f.isReach(info) {
			return outOfReach(t.Path.Abs)
		}
		return nil
	}
	if sys.Nlink > 1 && f.links(info) {
		file.Close()
		return outOfReach(t.Path.Abs)
	}
	t.File = file
	return nil
}

// refusal is an error that needs no variable.
type refusal string

func (f refusal) Error() string { return string(f) }

const ErrSwapped refusal = "it was replaced while it was being opened; try again"

// openAt opens name in dir and never follows a link there.
func openAt(dir *os.File, name string, flag int, mode uint32, shown string) (*os.File, error) {
	fd, err := unix.Openat(int(dir.Fd()), name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if errors.Is(err, unix.ELOOP) {
		return nil, ErrSwapped
	}
	if err != nil {
		return nil, err
	}
	if flag&unix.O_NONBLOCK != 0 {
		_ = unix.SetNonblock(fd, false)
	}
	return os.NewFile(uintptr(fd), shown), nil
}

// Explain names the path in an error that a model will read.
func Explain(path string, err error) error {
	var perr *fs.PathError
	if errors.As(err, &perr) {
		err = perr.Err
	}
	switch {
	case errors.Is(err, errReach):
		return err
	case errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("%s: a part of the path is a file, not a folder", path)
	}
	return fmt.Errorf("%s: %w", path, err)
}
