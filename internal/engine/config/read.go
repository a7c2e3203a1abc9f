package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// MaxFile is the largest configuration file in bytes.
const MaxFile = 1 << 20

// Read reads a file that may be missing ("" is). It does not wait for pipes. The
// error is one sentence that names the file.
func Read(name string) (File, error) {
	if name == "" {
		return File{}, nil
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if _, err := os.Lstat(name); err == nil { // the rules that deny something must not be taken for none
			return File{}, fmt.Errorf("the configuration %s cannot be read: it is a link that leads nowhere; correct it or remove it", name)
		}
		return File{Name: name}, nil
	}
	if err != nil {
		return File{}, cannotRead(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return File{}, cannotRead(name, err)
	}
	if !info.Mode().IsRegular() {
		return File{}, fmt.Errorf("the configuration %s cannot be read: it is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return File{}, cannotRead(name, err)
	}
	if len(data) > MaxFile {
		return File{}, fmt.Errorf("the configuration %s cannot be read: it is larger than %d bytes", name, MaxFile)
	}
	return File{Name: name, Data: data}, nil
}

func cannotRead(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("the configuration %s cannot be read: %w", name, err)
}
