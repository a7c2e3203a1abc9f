package sandbox

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"scorel/internal/platform/repository"
)

// Bounds of a look at protected files. Beyond them a file is compared by size,
// times and inode.
const (
	maxWatched      = 500     // files that are looked at in each place
	maxHashed       = 200     // files that are read
	maxHashedBytes  = 8 << 20 // bytes that are read
	maxWatchedDepth = 8
)

// Protected is the state of the protected files at one moment.
type Protected map[string]string

// LookAtProtected notes the state of the protected files below the roots: hooks
// and configuration of their repositories, and what other tools run or believe.
// What lies in one of the closed folders is not looked at. It changes nothing.
func LookAtProtected(roots, closed []string) Protected {
	w := watcher{state: Protected{}}
	for _, path := range guards(roots, closed).watched {
		w.left = maxWatched // so that one place, filled up, does not hide the others
		w.look(path, 0)
	}
	return w.state
}

// Changed returns the files that are new, gone or different afterwards, sorted.
func (p Protected) Changed(after Protected) []string {
	var out []string
	for path, state := range after {
		if before, ok := p[path]; !ok || before != state {
			out = append(out, path)
		}
	}
	for path := range p {
		if _, ok := after[path]; !ok {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

type watcher struct {
	state  Protected
	left   int // files of the place that may still be looked at
	hashed int
	bytes  int64
}

func (w *watcher) look(path string, depth int) {
	info, err := os.Lstat(path)
	if err != nil || w.left == 0 {
		return
	}
	if !info.IsDir() {
		w.left--
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, _ := os.Readlink(path)
		w.state[path] = "link " + to
	case info.IsDir():
		if depth >= maxWatchedDepth {
			return
		}
		names := list(path)
		slices.Sort(names)
		for _, name := range names {
			w.look(filepath.Join(path, name), depth+1)
		}
	case info.Mode().IsRegular():
		w.state[path] = fmt.Sprintf("%v %s", info.Mode(), w.content(path, info))
	default:
		w.state[path] = info.Mode().String()
	}
}

// content returns the hash of a file, or where that is too much what changes with
// it: its other times can be set, that of its last change cannot.
func (w *watcher) content(path string, info fs.FileInfo) string {
	if w.hashed < maxHashed && w.bytes+info.Size() <= maxHashedBytes {
		if sum, err := hashFile(path, info.Size()); err == nil {
			w.hashed++
			w.bytes += info.Size()
			return sum
		}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprintf("%d %d %d", info.Size(), repository.ChangeTime(st), st.Ino)
}

func hashFile(path string, size int64) (string, error) {
	f, err := repository.OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if n, err := io.Copy(h, io.LimitReader(f, size+1)); err != nil || n != size {
		return "", fmt.Errorf("read %s: it changed", path)
	}
	return string(h.Sum(nil)), nil
}
