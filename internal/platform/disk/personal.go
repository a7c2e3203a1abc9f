package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Personal returns where a file is written that a person edits and may keep elsewhere: at the
// end of the links at name, so that the link stays. The end is a regular file of this user, or
// is not there yet; anything else is an error of one sentence. Files of Scorel's own are never
// written through a link.
func Personal(name string) (string, error) {
	if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return name, nil
	}
	target, err := filepath.EvalSymlinks(name)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = missingTarget(name)
	}
	if err != nil {
		return "", fmt.Errorf("%s is a link that leads nowhere (%w); correct it or remove it", name, err)
	}
	info, err := os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return target, nil
	}
	if err != nil {
		return "", err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || ok && int(st.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s is a link to %s, which is no file of yours; change it there, or remove the link", name, target)
	}
	return target, nil
}

// maxLinks bounds the links that are followed to a file that is not there yet.
const maxLinks = 40

// missingTarget returns the file that the links at name lead to, and that is not there. Its
// folder is.
func missingTarget(name string) (string, error) {
	at := name
	for range maxLinks {
		to, err := os.Readlink(at)
		if errors.Is(err, fs.ErrNotExist) {
			return at, nil
		}
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(to))
		if err != nil {
			return "", err
		}
		at = filepath.Join(dir, filepath.Base(to))
	}
	return "", syscall.ELOOP
}
