package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// project is an opened project folder.
type project struct {
	dir    string // canonical
	closed string // ~/.scorel, canonical
	root   *os.Root
}

// ours reports whether a name of the project is in ~/.scorel, or in ~/.claude beside it:
// where the home itself is the project these are the user's own.
func (p *project) ours(name string) bool {
	full := filepath.Join(p.dir, name)
	return within(p.closed, full) || within(filepath.Join(filepath.Dir(p.closed), ".claude"), full)
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// resolve follows the symlinks of a name and returns what it leads to, relative to
// the project. Nothing there is [fs.ErrNotExist]; other errors are the end of a
// sentence that begins with the name.
func (p *project) resolve(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", errors.New("has a name that is not valid UTF-8")
	}
	full := filepath.Join(p.dir, name)
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		if _, lerr := os.Lstat(full); lerr == nil {
			return "", errors.New("is a symlink that leads nowhere")
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return "", fs.ErrNotExist
		}
		return "", fmt.Errorf("cannot be read: %w", cause(err))
	}
	switch {
	case within(p.closed, real):
		return "", errors.New("leads into Scorel's own folder")
	case !within(p.dir, real):
		return "", errors.New("leads out of the project")
	case !utf8.ValidString(real):
		return "", errors.New("leads to a name that is not valid UTF-8")
	}
	rel, err := filepath.Rel(p.dir, real)
	if err != nil {
		return "", fmt.Errorf("cannot be read: %w", err)
	}
	return rel, nil
}

// openFile opens a regular file, without waiting for pipes. Its Name and Target
// are filled in. What is opened is inside the project, whatever happens between
// resolving and opening.
func (p *project) openFile(name string) (*os.File, fs.FileInfo, File, error) {
	rel, err := p.resolve(name)
	if err != nil {
		return nil, nil, File{}, err
	}
	// Opening alone may wake who waits at a pipe, or move a device.
	info, err := p.root.Stat(rel)
	if err == nil && !info.Mode().IsRegular() {
		return nil, nil, File{}, errors.New("is not a regular file")
	}
	f, err := p.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, File{}, fmt.Errorf("cannot be read: %w", cause(err))
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a regular file")
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, File{}, err
	}
	out := File{Name: name}
	if rel != filepath.Clean(name) {
		out.Target = rel
	}
	return f, info, out, nil
}

// read reads a file of at most limit bytes, with its hash.
func (p *project) read(name string, limit int64) ([]byte, File, error) {
	f, info, out, err := p.openFile(name)
	if err != nil {
		return nil, File{}, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, File{}, fmt.Errorf("is larger than %d bytes", limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, File{}, fmt.Errorf("cannot be read: %w", cause(err))
	case int64(len(data)) > limit:
		return nil, File{}, fmt.Errorf("is larger than %d bytes", limit)
	}
	sum := sha256.Sum256(data)
	out.SHA256, out.Size = hex.EncodeToString(sum[:]), int64(len(data))
	return data, out, nil
}

// cause is the innermost part of a file error.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
