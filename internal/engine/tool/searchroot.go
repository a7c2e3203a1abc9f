package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"scorel/internal/engine/permission"
	"scorel/internal/engine/tool/files"
	"scorel/internal/platform/sandbox"
)

const (
	searchTime = 60 * time.Second
	lateTime   = 5 * time.Second // to show what a search that was ended has found
	maxFound   = 500_000         // files that one search keeps in memory
)

// searched is what the tools that search need.
type searched struct {
	files    *files.Files
	spawn    sandbox.Spawner // of ripgrep
	environ  []string
	ripgrep  string // "" to search with the built-in code
	withheld func(folder, file string) bool
}

func searchedIn(g Setting) searched {
	return searched{files: g.Files, spawn: g.Spawn, environ: g.Environ, ripgrep: g.Ripgrep, withheld: g.Withheld}
}

// searchRoot is a folder to search, open, or a single file.
type searchRoot struct {
	in    searched
	path  permission.Path
	root  *os.Root // of the folder, or of the file's
	file  string   // the file's name, "" for a folder
	reach func() map[inode]bool
	limit time.Duration // of a search: searchTime, but for tests
	gaps  gaps
}

type inode struct{ dev, ino uint64 }

// openSearch opens what is to be searched; "" is the workspace.
func openSearch(in searched, path string) (*searchRoot, error) {
	if path == "" {
		path = "."
	}
	t, err := in.files.Open(path, false)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if !t.Exists() {
		return nil, files.Missing(t, "")
	}
	s := &searchRoot{in: in, path: t.Path, limit: searchTime}
	if t.Info.IsDir() && s.closed(t.Path.Abs) {
		return nil, fmt.Errorf("%s cannot be searched", t.Path.Abs)
	}
	s.reach = sync.OnceValue(func() map[inode]bool { return inodes(in.files.Reach()) })
	dir := t.Path.Abs
	if !t.Info.IsDir() {
		dir, s.file = filepath.Dir(dir), filepath.Base(dir)
	}
	if s.root, err = os.OpenRoot(dir); err != nil {
		return nil, files.Explain(dir, err)
	}
	// It was opened by name: what it is must be what was judged.
	info, err := s.root.Lstat(".")
	if s.file != "" && err == nil {
		info, err = s.root.Lstat(s.file)
	}
	if err != nil || !os.SameFile(info, t.Info) {
		s.root.Close()
		return nil, files.Explain(t.Path.Abs, files.ErrSwapped)
	}
	return s, nil
}

// inodes returns the files in a folder that have several names.
func inodes(dir string) map[inode]bool {
	set := make(map[inode]bool)
	if dir == "" {
		return set
	}
	_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
				set[inode{uint64(st.Dev), st.Ino}] = true
			}
		}
		return nil
	})
	return set
}

// closed reports whether a search leaves out an absolute path: Scorel's own folder,
// and the kernel's, whose files show other processes, hang or never end.
func (s *searchRoot) closed(abs string) bool {
	return s.in.files.Reach() != "" && files.Within(abs, s.in.files.Reach()) && !s.in.files.MayRead(abs) ||
		files.Within(abs, "/proc") || files.Within(abs, "/sys") || files.Within(abs, "/dev")
}

// open opens a file that the search found, nil when it is not to be read: it is
// gone, no regular file any more, or another name of a file of Scorel's own.
func (s *searchRoot) open(rel string) *os.File {
	info, err := s.root.Lstat(rel)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := s.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		s.unread(rel, err)
		return nil
	}
	opened, err := f.Stat()
	if err != nil || !os.SameFile(info, opened) {
		f.Close()
		return nil
	}
	if st, ok := opened.Sys().(*syscall.Stat_t); files.InProc(f) || ok && st.Nlink > 1 && s.reach()[inode{uint64(st.Dev), st.Ino}] {
		f.Close()
		return nil
	}
	return f
}

// found is a file that a search lists.
type found struct {
	rel   string
	mtime int64 // nanoseconds
}

// list names the files below the folder that keep accepts, the newest first and
// then by name. With re, ripgrep leaves out files without a match; without
// ripgrep that is left to the caller. depth bounds how deep it looks, 0 does not.
func (s *searchRoot) list(ctx context.Context, re *pattern, depth int, keep func(rel string) bool) (files []found, more bool, err error) {
	if s.file != "" {
		return s.dated([]string{s.file}), false, nil
	}
	var mu sync.Mutex
	var names []string
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	emit := func(rel string) {
		if stop.Err() != nil {
			return
		}
		abs := filepath.Join(s.path.Abs, rel)
		if !keep(rel) || s.closed(abs) || s.in.withheld != nil && s.in.withheld(s.path.Abs, abs) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if len(names) == maxFound {
			more = true
			cancel()
			return
		}
		names = append(names, rel)
	}
	if !s.ripgrep(stop, re, depth, emit) && stop.Err() == nil {
		names = names[:0]
		s.walk(stop, depth, emit)
	}
	if err := ctx.Err(); err != nil {
		if len(names) == 0 || !errors.Is(err, context.DeadlineExceeded) {
			return nil, false, err
		}
		s.gaps.late = true
	}
	return s.dated(names), more, nil
}

// dated sorts the names and drops what is not a file.
func (s *searchRoot) dated(names []string) []found {
	dir := s.root.Name()
	files := make([]found, 0, len(names))
	for _, rel := range names {
		if info, err := os.Lstat(filepath.Join(dir, rel)); err == nil && info.Mode().IsRegular() {
			files = append(files, found{rel, info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(files, func(a, b found) int {
		switch {
		case a.mtime > b.mtime:
			return -1
		case a.mtime < b.mtime:
			return 1
		}
		return strings.Compare(a.rel, b.rel)
	})
	return files
}

// leftOut is about what a search does not show. Of withheld files it does not depend on what was
// found: that would say whether one matches.
func (s *searchRoot) leftOut() string {
	note := s.gaps.sentences(s.limit)
	if s.file == "" && s.in.withheld != nil {
		note += "\n[Files that the user's rules deny or ask for are left out.]"
	}
	return note
}

// unread notes a file or folder that is there and cannot be read.
func (s *searchRoot) unread(rel string, err error) {
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	abs := filepath.Join(s.path.Abs, rel)
	if s.closed(abs) || s.in.withheld != nil && s.in.withheld(s.path.Abs, abs) {
		return
	}
	s.gaps.note(&s.gaps.unread, rel)
}

// tooLong says in a model's words that a search was ended.
func tooLong(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("cancelled by user")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the search took more than %d s and was ended; search a smaller folder", int(searchTime.Seconds()))
	}
	return err
}
