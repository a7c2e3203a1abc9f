package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// maxDepth is how many folders an upward search looks at.
const maxDepth = 64

// Boundaries say where an upward search ends.
type Boundaries struct {
	Home string // of the user; "" for none
	UID  int    // of the user
}

// Search is what an upward search found.
type Search struct {
	// Dirs are the folders from the top down to where the search began, absolute
	// and without symlinks, at most 64.
	Dirs []string
	// Tree is the Git root that ended the search; "" when none did, and for a
	// repository of the whole home, which is no boundary.
	Tree string
	// Why says why not even the first folder counts; "" when there are Dirs.
	Why string
}

// Upward returns the folders in which dir's .scorel, AGENTS.md and skills may
// stand: dir and what is above it, up to and with the Git root or home, and never
// a folder in which others can put files, nor what is above that. Symlinks are
// resolved first, so that it is the real parents that are judged.
func Upward(dir string, b Boundaries) Search {
	var s Search
	home := resolve(b.Home)
	if b.Home == "" {
		home = ""
	}
	for at := resolve(dir); len(s.Dirs) < maxDepth; at = filepath.Dir(at) {
		if why := foreign(at, b.UID); why != "" {
			if len(s.Dirs) == 0 {
				s.Why = why
			}
			break
		}
		s.Dirs = append(s.Dirs, at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			if at != home {
				s.Tree = at
			}
			break
		}
		if at == home || at == filepath.Dir(at) {
			break
		}
	}
	slices.Reverse(s.Dirs)
	return s
}

// foreign returns why files in a folder may be somebody else's, "" when they are
// not: everybody can write there (also where a sticky bit keeps names from being
// replaced), or it belongs to neither the user nor root.
func foreign(dir string, uid int) string {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return "cannot be read"
	}
	if info.Mode().Perm()&0o002 != 0 {
		return "can be written by everybody"
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != uid {
		return "belongs to another user"
	}
	return ""
}
