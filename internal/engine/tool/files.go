package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"scorel/internal/engine/permission"
	"scorel/internal/platform/sandbox"

	"golang.org/x/sys/unix"
)

// Config names the folders of a session.
type Config struct {
	Root       string   // the workspace
	Additional []string // folders that count as inside, too
	Home       string   // the user's home, for paths that begin with ~
	Reach      string   // Scorel's own folder, which no tool may touch; it need not exist
	// Readable are folders without links that can be read though they lie outside, or
	// in Reach; nothing in Reach is ever written.
	Readable []string
}

// Files opens files for the tools. A path is resolved once, into a handle on its
// folder, and everything afterwards goes through that handle without following a
// link: whoever swaps a link in between gets an error, never another file. It
// may be used by several goroutines at once.
type Files struct {
	roots []workRoot // the workspace first
	home  string
	keys  []string // where keys are kept, absolute, by the names below home and as resolved
	reach string   // resolved as far as it exists

	readable []string
}

type workRoot struct {
	path string // resolved
	root *os.Root
}

// NewFiles opens the workspace and the additional folders. Close releases them.
func NewFiles(cfg Config) (*Files, error) {
	f := &Files{home: cfg.Home, readable: cfg.Readable}
	for _, dir := range append([]string{cfg.Root}, cfg.Additional...) {
		path, err := filepath.Abs(dir)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		var root *os.Root
		if err == nil {
			root, err = os.OpenRoot(path)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("open workspace folder: %w", err)
		}
		f.roots = append(f.roots, workRoot{path, root})
	}
	if cfg.Home != "" {
		home := cfg.Home
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
		for _, name := range sandbox.KeyPlaces() {
			place := filepath.Join(home, name)
			f.keys = append(f.keys, place)
			if real, err := filepath.EvalSymlinks(place); err == nil && real != place {
				f.keys = append(f.keys, real)
			}
		}
	}
	if cfg.Reach != "" {
		abs, err := filepath.Abs(cfg.Reach)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("resolve %s: %w", cfg.Reach, err)
		}
		f.reach = abs
		if have, missing, err := resolve(abs); err == nil {
			f.reach = filepath.Join(append([]string{have}, missing...)...)
		}
	}
	return f, nil
}

// Close releases the folders. Files opened before stay usable.
func (f *Files) Close() {
	for _, r := range f.roots {
		r.root.Close()
	}
}

// Root gives the workspace, resolved.
func (f *Files) Root() string { return f.roots[0].path }

// folders returns the workspace and the additional folders, resolved.
func (f *Files) folders() []string {
	roots := make([]string, len(f.roots))
	for i, r := range f.roots {
		roots[i] = r.path
	}
	return roots
}

// protectedState notes the state of the protected files of the workspace.
func (f *Files) protectedState() sandbox.Protected {
	roots := f.folders()
	var closed []string
	if f.reach != "" {
		closed = append(closed, f.reach)
	}
	return sandbox.LookAtProtected(roots, closed)
}

// absolute gives the path that a model meant: relative ones are below the
// workspace, ~ is the home.
func (f *Files) absolute(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("the path is empty")
	case strings.ContainsRune(path, 0):
		return "", errors.New("the path contains a NUL byte")
	case path == "~" || strings.HasPrefix(path, "~/"):
		if f.home == "" {
			return "", errors.New("there is no home folder; give an absolute path")
		}
		return filepath.Join(f.home, path[1:]), nil
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	}
	return filepath.Join(f.Root(), path), nil
}

// resolve follows every link in path. What does not exist is given as missing,
// its last element first to last.
func resolve(path string) (have string, missing []string, err error) {
	for at := path; ; at = filepath.Dir(at) {
		have, err = filepath.EvalSymlinks(at)
		if err == nil {
			return have, missing, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return "", nil, err
		}
		if info, lerr := os.Lstat(at); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", nil, fmt.Errorf("%s is a symbolic link to something that does not exist", at)
		}
		missing = append([]string{filepath.Base(at)}, missing...)
	}
}

func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// describe says where a resolved path lies.
func (f *Files) describe(path string) permission.Path {
	p := permission.Path{Abs: path, Protected: protected(path), OutOfReach: f.reach != "" && within(path, f.reach)}
	p.Skill = f.mayRead(path)
	for _, r := range f.roots {
		if !within(path, r.path) {
			continue
		}
		if f.holdsKeys(path, r.path) {
			p.Keys = !p.Inside
			continue
		}
		p.Inside, p.Keys = true, false
		// A workspace may lie in a folder of such a name, as worktrees do.
		p.Protected = p.Protected && protected(strings.TrimPrefix(path, r.path))
	}
	return p
}

// mayRead says whether a resolved path lies in a folder that can be read in any case.
func (f *Files) mayRead(path string) bool {
	return slices.ContainsFunc(f.readable, func(dir string) bool { return within(path, dir) })
}

// holdsKeys says whether a path lies where keys are kept while the folder of the
// session does not: a workspace that is the whole home does not open them.
func (f *Files) holdsKeys(path, root string) bool {
	return slices.ContainsFunc(f.keys, func(place string) bool { return within(path, place) && !within(root, place) })
}

// Resolve says where a path that a command names lies, following its links as the
// file tools would. The file need not exist. What cannot be resolved counts as
// outside.
func (f *Files) Resolve(abs string) permission.Path {
	have, missing, err := resolve(filepath.Clean(abs))
	if err != nil {
		p := f.describe(filepath.Clean(abs))
		p.Inside = false
		return p
	}
	return f.describe(filepath.Join(append([]string{have}, missing...)...)).As(filepath.Clean(abs))
}

// protected says whether writing a path could make other programs run something
// or change what Scorel itself obeys. All of a .git folder counts: hooks and
// configuration also live in its modules and worktrees. Case does not matter, as
// some file systems ignore it.
func protected(path string) bool {
	for part := range strings.SplitSeq(strings.ToLower(path), "/") {
		switch part {
		case ".git", ".scorel", ".claude", ".agents", ".vscode", ".mcp.json", ".envrc":
			return true
		}
	}
	return false
}

// target is a resolved path with a handle on its folder.
type target struct {
	path    permission.Path
	dir     *os.File // the deepest folder that existed
	missing []string // folders below dir that do not exist yet
	base    string
	info    fs.FileInfo // nil when there is nothing at the path
	file    *os.File    // nil unless it is a regular file
}

func (t *target) exists() bool { return t.info != nil }

// close releases the handles. It may be called again.
func (t *target) close() {
	if t.file != nil {
		t.file.Close()
	}
	if t.dir != nil {
		t.dir.Close()
	}
}

// open resolves path and opens what is there, for reading and, with write, for
// writing too; it makes and changes nothing. A folder is given without a file.
// Scorel's own folder and whatever is neither file nor folder are errors. The
// caller closes the target.
func (f *Files) open(path string, write bool) (t *target, err error) {
	abs, err := f.absolute(path)
	if err != nil {
		return nil, err
	}
	have, missing, err := resolve(abs)
	if err != nil {
		return nil, explain(abs, err)
	}
	t = &target{path: f.describe(filepath.Join(append([]string{have}, missing...)...)).As(abs)}
	readable := t.path.Skill && !write
	if t.path.OutOfReach && !readable {
		return nil, outOfReach(t.path.Abs)
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
			t.close()
			t = nil
		}
	}()
	if t.dir, err = f.openDir(parent); err != nil {
		return t, explain(abs, err)
	}
	if real, err := realPath(t.dir); err != nil || real != parent {
		return t, fmt.Errorf("%s changed while it was being opened; try again", abs)
	}
	if !readable && f.holds(t.dir) {
		return t, outOfReach(t.path.Abs)
	}
	if inProc(t.dir) {
		return t, fmt.Errorf("%s belongs to the kernel or a process and cannot be used as a file", abs)
	}
	if len(missing) == 0 {
		if err := t.openFile(f, write); err != nil {
			return t, explain(t.path.Abs, err)
		}
	}
	return t, nil
}

// openDir opens a resolved folder: through the workspace's root when it is
// inside, so that no link leads out, and as it is otherwise.
func (f *Files) openDir(path string) (*os.File, error) {
	for _, r := range f.roots {
		if !within(path, r.path) {
			continue
		}
		rel, err := filepath.Rel(r.path, path)
		if err != nil {
			return nil, err
		}
		return r.root.OpenFile(rel, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	}
	return os.OpenFile(path, openPath|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
}

// openFile opens what stands at base now. Only regular files are opened: to open
// a device can have an effect, to open a pipe can hang.
func (t *target) openFile(f *Files, write bool) error {
	var st unix.Stat_t
	if err := unix.Fstatat(int(t.dir.Fd()), t.base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFDIR:
	case unix.S_IFLNK:
		return errSwapped
	default:
		return errors.New("it is a device, pipe or socket, which cannot be used as a file")
	}
	flag := unix.O_RDONLY
	if write && st.Mode&unix.S_IFMT == unix.S_IFREG {
		flag = unix.O_RDWR
	}
	file, err := openAt(t.dir, t.base, flag|unix.O_NONBLOCK, 0, t.path.Abs)
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
		return errSwapped
	}
	t.info = info
	if info.IsDir() {
		defer file.Close()
		if f.isReach(info) {
			return outOfReach(t.path.Abs)
		}
		return nil
	}
	if sys.Nlink > 1 && f.links(info) {
		file.Close()
		return outOfReach(t.path.Abs)
	}
	t.file = file
	return nil
}

// refusal is an error that needs no variable.
type refusal string

func (f refusal) Error() string { return string(f) }

const errSwapped refusal = "it was replaced while it was being opened; try again"

// openAt opens name in dir and never follows a link there.
func openAt(dir *os.File, name string, flag int, mode uint32, shown string) (*os.File, error) {
	fd, err := unix.Openat(int(dir.Fd()), name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if errors.Is(err, unix.ELOOP) {
		return nil, errSwapped
	}
	if err != nil {
		return nil, err
	}
	if flag&unix.O_NONBLOCK != 0 {
		_ = unix.SetNonblock(fd, false)
	}
	return os.NewFile(uintptr(fd), shown), nil
}

// explain names the path in an error that a model will read.
func explain(path string, err error) error {
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
