package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

var errTooLarge = fmt.Errorf("the file is larger than %d bytes", MaxFile)

// ManagedFile returns where an administrator's file is.
func ManagedFile() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/Scorel/managed-mcp.json"
	}
	return "/etc/scorel/managed-mcp.json"
}

// UserFile returns where the user's file is, in the folder ~/.scorel.
func UserFile(scorel string) string { return filepath.Join(scorel, "mcp.json") }

// ReadFile reads a file that may be missing. It does not wait for pipes.
func ReadFile(name string) File {
	return readWith(name, func() (*os.File, error) {
		return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	})
}

// ReadProject reads the files of a project, to be shown: what counts of a project is read
// where it is trusted. A link that leads out of the project is not followed.
func ReadProject(root string) (out []File) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil // no project, no files
	}
	defer dir.Close()
	for _, name := range ProjectFiles() {
		f := readWith(filepath.Join(root, name), func() (*os.File, error) {
			return dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		})
		if f.exists() {
			out = append(out, f)
		}
	}
	return out
}

func readWith(name string, open func() (*os.File, error)) File {
	out := File{Name: name}
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			out.Err = errors.New("it is a link that leads nowhere")
		}
		return out
	}
	if err != nil {
		out.Err = cause(err)
		return out
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		out.Err = cause(err)
		return out
	case !info.Mode().IsRegular():
		out.Err = errors.New("it is not a regular file")
		return out
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		out.Err = cause(err)
	case len(data) > MaxFile:
		out.Err = errTooLarge
	default:
		out.Data = data
	}
	return out
}

// cause is the innermost part of an error of a file: its name is told beside it.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
