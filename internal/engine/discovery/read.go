package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"scorel/internal/platform/lru"
)

// Bounds of what is looked at.
const (
	maxNames  = 1000 // names in one place; further ones are not looked at
	maxCached = 2000 // files whose content is known by their stat
	trimTo    = 1500
)

// racy is how old a file must be for its times to name it: one that is written
// again within a tick of the file system's clock may keep them.
const racy = 2 * time.Second

// Names returns the sorted names in a place that are not hidden, and whether there are
// more than are looked at. A place that is not there has none.
func (p Place) Names() (names []string, more bool, err error) {
	f, err := os.OpenFile(p.Dir, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s cannot be listed: %w", p.Dir, Cause(err))
	}
	defer f.Close()
	if p.Only != "" {
		return []string{p.Only}, false, nil
	}
	names, err = f.Readdirnames(maxNames + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("%s cannot be listed: %w", p.Dir, Cause(err))
	}
	more = len(names) > maxNames
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, ".") })
	slices.Sort(names)
	return names[:min(len(names), maxNames)], more, nil
}

// Resolve follows the links of a name in the place and says what is wrong with where
// they lead, as the end of a sentence that begins with the name. Scorel's own folder
// is own: but for the user's places in it nothing may lead there.
func (p Place) Resolve(name, own string) (string, error) {
	real, err := filepath.EvalSymlinks(filepath.Join(p.Dir, name))
	if err != nil {
		return "", fmt.Errorf("cannot be read: %w", Cause(err))
	}
	if own = resolve(own); own != "" {
		switch {
		case within(real, own):
			return "", errors.New("leads to a folder around Scorel's own")
		case within(own, real) && (p.Scope == Project || !within(resolve(p.Dir), real)):
			return "", errors.New("leads into Scorel's own folder")
		}
	}
	if p.Root != "" && !within(p.Root, real) {
		return "", errors.New("leads out of the project")
	}
	return real, nil
}

// Content is what a file holds.
type Content struct {
	Data []byte
	Hash string // SHA-256, lower-case hex
}

// Read reads a regular file in a folder that was resolved. No link leads out of the
// folder. The error is the end of a sentence that begins with the name; nothing
// there is [fs.ErrNotExist].
func Read(dir, name string, limit int64) (Content, error) {
	f, info, err := open(dir, name, limit)
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return Content{}, fmt.Errorf("cannot be read: %w", Cause(err))
	case int64(len(data)) > limit:
		return Content{}, tooLong(info.Size(), limit)
	}
	sum := sha256.Sum256(data)
	return Content{data, hex.EncodeToString(sum[:])}, nil
}

func open(dir, name string, limit int64) (*os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil && !isDir(dir) {
		return nil, nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot be read: %w", Cause(err))
	}
	defer root.Close()
	info, err := root.Stat(name) // opening alone may wake who waits at a pipe
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil, fs.ErrNotExist
	case err != nil:
		return nil, nil, fmt.Errorf("cannot be read: %w", Cause(err))
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("is not a regular file")
	case info.Size() > limit:
		return nil, nil, tooLong(info.Size(), limit)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot be read: %w", Cause(err))
	}
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, nil, errors.New("is not a regular file")
	}
	return f, info, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func tooLong(size, limit int64) error {
	return fmt.Errorf("has %d bytes; at most %d are read", size, limit)
}

// Cause is the innermost part of a file error.
func Cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// stamp names a state of a file. The zero stamp names none.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64
}

// Cache keeps what was made of files, by their stat.
type Cache[V any] struct {
	files *lru.Cache[string, known[V]]
	now   func() time.Time
}

type known[V any] struct {
	at    stamp
	value V
}

// NewCache makes an empty cache; nil is the machine's clock.
func NewCache[V any](now func() time.Time) *Cache[V] {
	if now == nil {
		now = time.Now
	}
	return &Cache[V]{lru.New[string, known[V]](maxCached, trimTo), now}
}

// Get returns what was made of the file name in the folder dir, without links, when
// it is as it was then; else it has make make it again. What make fails for is not
// kept.
func (c *Cache[V]) Get(dir, name string, make func() (V, error)) (V, error) {
	key := filepath.Join(dir, name)
	at := c.stampOf(key)
	if k, ok := c.files.Get(key); ok && at != (stamp{}) && k.at == at {
		return k.value, nil
	}
	v, err := make()
	if err == nil && at != (stamp{}) && at == c.stampOf(key) {
		c.files.Put(key, known[V]{at, v})
	}
	return v, err
}

// Len returns how many files are known.
func (c *Cache[V]) Len() int { return c.files.Len() }

func (c *Cache[V]) stampOf(path string) stamp {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return stamp{}
	}
	s := stamp{uint64(st.Dev), st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
	if young := c.now().Add(-racy).UnixNano(); s.mtime > young || s.ctime > young {
		return stamp{}
	}
	return s
}
