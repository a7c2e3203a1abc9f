package repository

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Bounds of what is read of files that commands can write.
const (
	maxPointer = 4096    // bytes of a file that names a repository
	maxConfig  = 1 << 20 // bytes of a repository's configuration
)

// FirstLine returns the first line of a small regular file, "" when there is none.
func FirstLine(name string) string {
	data, err := ReadSmall(name, maxPointer)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return string(bytes.TrimRight(line, "\r"))
}

// ReadSmall reads a regular file of at most limit bytes; a larger one is an error.
func ReadSmall(name string, limit int64) ([]byte, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, err
}

// OpenRegular opens a file where commands write. Anything but a regular file is an
// error, also when it has just replaced one: opening a pipe would wait for its other
// end.
func OpenRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return f, nil
}

// SameFile reports whether two paths name one file.
func SameFile(a, b string) bool {
	i, err := os.Stat(a)
	j, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(i, j)
}

// IsRepository reports whether a folder has a HEAD that is a regular file.
func IsRepository(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil && info.Mode().IsRegular()
}

// Linked returns the repository that a .git file in root names, and what it shares with
// other worktrees; both are "" unless that repository names root in turn. The file can
// be written by a command: without the answer from the other side it could name any
// folder.
func Linked(root, file string) (dir, common string) {
	to, ok := strings.CutPrefix(FirstLine(file), "gitdir: ")
	if !ok {
		return "", ""
	}
	dir, err := filepath.EvalSymlinks(from(root, to))
	if err != nil || !IsRepository(dir) {
		return "", ""
	}
	if parent := filepath.Dir(dir); filepath.Base(parent) == "worktrees" {
		common = filepath.Dir(parent)
		back := from(dir, FirstLine(filepath.Join(dir, "gitdir")))
		if SameFile(back, file) && IsRepository(common) && hasObjects(common) {
			return dir, common
		}
		return "", ""
	}
	back := worktreeOf(dir)
	if back != "" && hasObjects(dir) && SameFile(back, root) {
		return dir, dir
	}
	return "", ""
}

func hasObjects(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "objects"))
	return err == nil && info.IsDir()
}

// worktreeOf returns core.worktree of the repository at dir, absolute; "" without one,
// and where the configuration cannot be read with certainty.
func worktreeOf(dir string) string {
	settings, err := readConfig(filepath.Join(dir, "config"))
	if err != nil {
		return ""
	}
	to := ""
	for _, s := range settings {
		if s.key == "core.worktree" {
			to = s.value
		}
	}
	if to == "" {
		return ""
	}
	return from(dir, to)
}

// from returns a path that is relative to dir as an absolute one.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// exists reports whether there is something at a path, a link that leads nowhere
// included. What cannot be looked at counts as there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// isFolder reports whether a path is a folder and no link to one.
func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
