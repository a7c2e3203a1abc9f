package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const errReach refusal = "is in Scorel's own folder, which is closed to tools; ask the user to change settings there"

func outOfReach(path string) error { return fmt.Errorf("%s %w", path, errReach) }

// maxClimb is deeper than any path can be that the kernel takes in one call.
const maxClimb = 4096

// isReach reports whether info is Scorel's own folder, by inode: a bind mount or
// another name of it counts.
func (f *Files) isReach(info fs.FileInfo) bool {
	if f.reach == "" {
		return false
	}
	reach, err := os.Stat(f.reach)
	return err == nil && os.SameFile(info, reach)
}

// holds reports whether dir is Scorel's own folder or lies in it, by inode.
func (f *Files) holds(dir *os.File) bool {
	if f.reach == "" {
		return false
	}
	var reach, at, last unix.Stat_t
	if unix.Stat(f.reach, &reach) != nil {
		return false
	}
	fd, err := unix.Dup(int(dir.Fd()))
	if err != nil {
		return true
	}
	defer func() { unix.Close(fd) }()
	for range maxClimb {
		if unix.Fstat(fd, &at) != nil {
			return true
		}
		if at.Ino == reach.Ino && at.Dev == reach.Dev {
			return true
		}
		if at.Ino == last.Ino && at.Dev == last.Dev {
			return false // the root is its own parent
		}
		up, err := unix.Openat(fd, "..", openPath|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return false // above is closed to us; the path has been judged by name
		}
		unix.Close(fd)
		fd, last = up, at
	}
	return true
}

// links reports whether a file with several names has one in Scorel's own folder.
func (f *Files) links(info fs.FileInfo) bool {
	if f.reach == "" {
		return false
	}
	found := false
	_ = filepath.WalkDir(f.reach, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if i, err := e.Info(); err == nil && os.SameFile(i, info) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}
