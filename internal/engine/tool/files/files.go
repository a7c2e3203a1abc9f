package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"scorel/internal/engine/permission"
	"scorel/internal/platform/sandbox"
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

// New opens the workspace and the additional folders. Close releases them.
func New(cfg Config) (*Files, error) {
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
			if _, err := os.Lstat(place); err != nil {
				continue // as most of them: it leads nowhere
			}
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

// Reach returns Scorel's own folder, resolved as far as it exists; "" for none.
func (f *Files) Reach() string { return f.reach }

// Keys returns where keys are kept, absolute.
func (f *Files) Keys() []string { return f.keys }

// Root returns the workspace, resolved.
func (f *Files) Root() string { return f.roots[0].path }

// Present fails where a path is in a folder of the session that is gone: a call is not to make
// the workspace that somebody has removed.
func (f *Files) Present(abs string) error {
	for _, r := range f.roots {
		if _, err := os.Lstat(r.path); Within(abs, r.path) && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is gone, and %s with it; somebody has removed it. Ask the user whether to make it again", r.path, abs)
		}
	}
	return nil
}

// Folders returns the workspace and the additional folders, resolved.
func (f *Files) Folders() []string {
	roots := make([]string, len(f.roots))
	for i, r := range f.roots {
		roots[i] = r.path
	}
	return roots
}

// Protected notes the state of the protected files of the workspace.
func (f *Files) Protected() sandbox.Protected {
	roots := f.Folders()
	var closed []string
	if f.reach != "" {
		closed = append(closed, f.reach)
	}
	return sandbox.LookAtProtected(roots, closed)
}

// Absolute returns the path that a model meant: relative ones are below the
// workspace, ~ is the home.
func (f *Files) Absolute(path string) (string, error) {
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
			var said *fs.PathError // in the words of the system, as for a loop of links
			if _, serr := os.Stat(at); errors.As(serr, &said) {
				err = said.Err
			}
			return "", nil, err
		}
		if info, lerr := os.Lstat(at); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", nil, fmt.Errorf("%s is a symbolic link to something that does not exist", at)
		}
		missing = append([]string{filepath.Base(at)}, missing...)
	}
}

func Within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// describe says where a resolved path lies.
func (f *Files) describe(path string) permission.Path {
	p := permission.Path{Abs: path, Protected: protected(path), OutOfReach: f.reach != "" && Within(path, f.reach)}
	p.Skill = f.MayRead(path)
	for _, r := range f.roots {
		if !Within(path, r.path) {
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

// MayRead reports whether a resolved path lies in a folder that can be read in any case.
func (f *Files) MayRead(path string) bool {
	return slices.ContainsFunc(f.readable, func(dir string) bool { return Within(path, dir) })
}

// holdsKeys reports whether a path lies where keys are kept while the folder of the
// session does not: a workspace that is the whole home does not open them.
func (f *Files) holdsKeys(path, root string) bool {
	return slices.ContainsFunc(f.keys, func(place string) bool { return Within(path, place) && !Within(root, place) })
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

// protected reports whether writing a path could make other programs run something
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
