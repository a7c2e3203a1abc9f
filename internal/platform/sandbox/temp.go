package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	tempNames = 8  // names that are tried for the folder of a user
	tempTries = 16 // and for that of a session
	sweepMost = 64 // left-over folders that are looked at when one is made
)

// Temp is the private folder for temporary files of one session. It is locked
// while it is held, so that no other host takes it for a left-over.
type Temp struct {
	// Dir is absolute, without symlinks, and readable by this user alone.
	Dir string
	f   *os.File
}

// TempBase returns where temporary folders are made: dir, the value of TMPDIR, as
// far as commands may see it at all; else /tmp.
func TempBase(dir string, closed []string) string {
	const common = "/tmp"
	if !filepath.IsAbs(dir) {
		return common
	}
	dir = filepath.Clean(dir)
	for _, c := range append([]string{"/run/user", "/var/run/user"}, closed...) {
		if within(dir, c) {
			return common
		}
	}
	return dir
}

// NewTemp makes the folder of a session, named as given, below base in a folder
// of this user: <base>/scorel-<uid>/<name>. What another user has put there
// before, or another host still holds, is not used: a further name is tried.
// Folders whose host died are removed.
func NewTemp(base, name string) (*Temp, error) {
	if name == "" || strings.ContainsAny(name, "/\x00") || name[0] == '.' {
		return nil, fmt.Errorf("%q cannot name a temporary folder", name)
	}
	parent, err := userTemp(base)
	if err != nil {
		return nil, err
	}
	sweep(parent)
	for i := range tempTries {
		dir := filepath.Join(parent, name)
		if i > 0 {
			dir += "-" + strconv.Itoa(i)
		}
		_ = removeIfLeft(dir)
		var f *os.File
		if f, err = makeLocked(dir); err == nil {
			return &Temp{Dir: dir, f: f}, nil
		}
	}
	return nil, fmt.Errorf("no temporary folder in %s: %w", parent, err)
}

// makeLocked makes a folder and takes its lock. It fails when another host holds
// it, or has taken it for a left-over in between.
func makeLocked(dir string) (*os.File, error) {
	if err := ownFolder(dir); err != nil {
		return nil, err
	}
	f, err := lockFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("%s is in use: %w", dir, err)
	}
	held, err := f.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Lstat(dir); err == nil && !os.SameFile(held, there) {
			err = fmt.Errorf("%s was replaced", dir)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close removes the folder and all in it. It may be called again.
func (t *Temp) Close() error {
	if t.f == nil {
		return nil
	}
	err := removeTree(t.Dir)
	t.f.Close()
	t.f = nil
	return err
}

// userTemp returns the folder of this user below base.
func userTemp(base string) (string, error) {
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		return "", fmt.Errorf("no temporary folder: %w; set TMPDIR to a folder that can be written", err)
	}
	info, err := os.Stat(base)
	if err != nil || !info.IsDir() {
		return "", fmt.Errorf("no temporary folder: %s is not a folder; set TMPDIR to one that can be written", base)
	}
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return "", fmt.Errorf("no temporary folder: others could move what is in %s; run chmod +t on it, or set TMPDIR to a folder of your own", base)
	}
	name := filepath.Join(base, "scorel-"+strconv.Itoa(os.Geteuid()))
	for i := range tempNames {
		dir := name
		if i > 0 {
			dir += "-" + strconv.Itoa(i)
		}
		if err = ownFolder(dir); err == nil {
			return dir, nil
		}
		if !errors.Is(err, errNotOurs) {
			break
		}
	}
	return "", fmt.Errorf("no temporary folder: %w; set TMPDIR to a folder of your own", err)
}

var errNotOurs = errors.New("it is not a folder that only you can use")

// ownFolder makes a folder that only this user can use, or makes sure that the
// one there is such. A symlink is not followed.
func ownFolder(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at %s: %w", dir, err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s cannot be used: %w", dir, errNotOurs)
	}
	return nil
}

func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes folders whose host is gone.
func sweep(parent string) {
	f, err := os.Open(parent)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(sweepMost)
	for _, name := range names {
		_ = removeIfLeft(filepath.Join(parent, name))
	}
}

// removeIfLeft removes a folder that nobody holds.
func removeIfLeft(dir string) error {
	f, err := lockFolder(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return removeTree(dir)
}

// removeTree removes also what a command has made unreadable for its owner. It
// follows no symlinks.
func removeTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	_ = openUp(root, ".", 0)
	return os.RemoveAll(dir)
}

// maxDepth bounds how deep folders are made removable.
const maxDepth = 256

func openUp(root *os.Root, name string, depth int) error {
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() || depth > maxDepth {
		return err
	}
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	entries, err := d.ReadDir(-1)
	d.Close()
	for _, e := range entries {
		if e.IsDir() {
			_ = openUp(root, filepath.Join(name, e.Name()), depth+1)
		}
	}
	return err
}
