package repository

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds of a look at what a repository notes of worktrees and submodules.
const (
	// Worktrees, or folders in modules: with more the whole folder counts as one finding.
	// Repositories that indexes name: further ones are not looked at, which is told.
	maxEntries    = 4096
	moduleDeep    = 8 // folders that the name of a submodule may have
	maxNestedDeep = 4 // submodules in submodules
)

// missingCommon is the finding of a worktree that is not complete: git worktree add
// makes it so for a moment.
const missingCommon = "commondir does not lead to this repository"

// place is something in a folder that Git would use: what a repository notes of a
// worktree or a submodule, or a file that leads Git to another repository.
type place struct {
	base string // the folder that it is set aside in, absolute
	rel  string // its path there
	// nested says that it is a repository of its own in the working tree, which may be a
	// person's: it is moved only when the command has changed it.
	nested bool
	// stays says that it is a file of the person's that is told of and never moved.
	stays bool
}

// errStays is why a finding was not moved that belongs to the repository itself.
var errStays = errors.New("it belongs to this repository; look at it before you use Git there")

// errEarlier reports that a nested repository has not changed since the command began.
var errEarlier = errors.New("it was there before this command and may be yours")

// changedSince reports whether the settings or hooks of a repository have changed.
func changedSince(dir string, since time.Time) bool {
	names := []string{dir, filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree"), filepath.Join(dir, "hooks")}
	entries, _ := os.ReadDir(filepath.Join(dir, "hooks"))
	for _, e := range entries {
		names = append(names, filepath.Join(dir, "hooks", e.Name()))
	}
	for _, name := range names[:min(len(names), maxEntries)] {
		if info, err := os.Lstat(name); err == nil && markOf(info).changed >= since.Add(-clockStep).UnixNano() {
			return true
		}
	}
	return false
}

// clockStep is by how much the times of files may lag after the clock.
const clockStep = 20 * time.Millisecond

// State is what the repositories of a workspace held at one moment.
type State struct {
	roots   []string
	taken   time.Time
	found   map[place][]string // why Git would run programs because of it; nil where it would not
	pending map[place]bool     // findings that may be of something that is being made
}

// Look notes what the repositories of the roots, absolute folders without symlinks,
// hold. It changes nothing.
func Look(roots []string) *State {
	s := &State{roots: roots, taken: time.Now(), found: map[place][]string{}, pending: map[place]bool{}}
	for _, root := range roots {
		s.root(root)
	}
	return s
}

// Aside is something that was set aside, because Git would have run programs or used
// another repository because of it.
type Aside struct {
	Path string // where it was, absolute
	To   string // where it is now; "" when it could not be moved
	Why  string
	Err  error // why it could not be moved
}

// SetAside moves what has come since s was taken, and would have Git run programs or use
// another repository, into a folder of its own in the repository (in the root, of what
// is in the place of the repository): scorel-set-aside-<time>-<random>. What was so
// before stays. Its own answer is part of s from then on, so that it is not given twice.
// ended says that nothing of the command runs any more: before, what git worktree add has
// not completed counts only when it was so in the call before. It may not be called
// concurrently with itself.
func (s *State) SetAside(now time.Time, ended bool) []Aside {
	after := Look(s.roots)
	places := make([]place, 0, len(after.found))
	for p, why := range after.found {
		if len(why) > 0 {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.base+"/"+a.rel, b.base+"/"+b.rel) })
	var out []Aside
	pending := map[place]bool{}
	for _, p := range places {
		before := s.found[p]
		fresh := slices.DeleteFunc(slices.Clone(after.found[p]), func(why string) bool { return slices.Contains(before, why) })
		if len(fresh) == 0 || slices.ContainsFunc(out, func(a Aside) bool { return within(filepath.Join(p.base, p.rel), a.Path) }) {
			continue
		}
		if !ended && !s.pending[p] && slices.Equal(fresh, []string{missingCommon}) {
			pending[p] = true
			continue
		}
		a := Aside{Path: filepath.Join(p.base, p.rel), Why: strings.Join(fresh, "; ")}
		switch {
		case p.stays:
			a.Err = errStays
		case p.nested && !changedSince(a.Path, s.taken):
			a.Err = errEarlier
		default:
			a.To, a.Err = p.move(now)
		}
		if errors.Is(a.Err, fs.ErrNotExist) { // a command, or another look, has taken it away
			continue
		}
		if a.Err != nil {
			s.found[p] = after.found[p] // it is told once
		}
		out = append(out, a)
	}
	s.pending = pending
	return out
}

// root looks at the repository of one root.
func (s *State) root(root string) {
	dot := filepath.Join(root, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil:
		return
	case info.IsDir():
		s.repository(dot)
		s.nested(root, dot, dot)
		return
	}
	p := place{base: root, rel: ".git"}
	dir, common := Linked(root, dot)
	if dir == "" {
		s.found[p] = []string{"it leads to a repository that does not name this folder: " + FirstLine(dot)}
		return
	}
	s.found[p] = nil
	for _, why := range append(running(filepath.Join(common, "config"), "config"), hooks(common, common)...) {
		s.found[p] = append(s.found[p], "it leads to "+common+", where "+why)
	}
	s.repository(common)
	s.nested(root, dir, common)
}

// tree is a repository whose index is looked through.
type tree struct {
	in   string // its working tree, from the root
	dir  string // its own folder
	deep int    // how many more may be in each other
}

// nested looks at the repositories that the index in dir names in the working tree of
// root, and at those that theirs name: Git runs a status of its own in each when the
// person asks for one at the root. Links may lead to the same again and again: each
// counts once, by its shortest way. Beyond a number of all none is looked at, which is a
// finding.
func (s *State) nested(root, dir, common string) {
	seen := map[string]bool{root: true} // working trees
	index := indexes{left: maxRead}
	for trees := []tree{{"", dir, maxNestedDeep}}; len(trees) > 0; trees = trees[1:] {
		t := trees[0]
		links, whole := index.gitlinks(t.dir)
		if !whole {
			s.found[place{base: t.dir, rel: "index", stays: true}] = []string{"it is too large to be looked through for repositories that Git would use"}
		}
		for _, path := range links {
			rel := filepath.Join(t.in, path, ".git")
			full := filepath.Join(root, rel)
			info, err := os.Lstat(full)
			if !filepath.IsLocal(rel) || err != nil {
				continue
			}
			folder, err := filepath.EvalSymlinks(filepath.Dir(full))
			if err != nil || seen[folder] {
				continue
			}
			if seen[folder] = true; len(seen) > maxEntries {
				s.found[place{base: t.dir, rel: "index", stays: true}] = []string{fmt.Sprintf("it leads to more than %d repositories, and those after them were not looked at", maxEntries)}
				return
			}
			p := place{base: root, rel: rel, nested: true}
			if t.deep == 0 {
				s.found[p] = []string{"it lies deeper than is looked"}
				continue
			}
			if at := s.module(p, full, info, common); at != "" {
				trees = append(trees, tree{filepath.Join(t.in, path), at, t.deep - 1})
			}
		}
	}
}

// module looks at a nested repository at its .git, which is full, and returns its own
// folder, "" where it has none.
func (s *State) module(p place, full string, info fs.FileInfo, common string) string {
	if info.IsDir() {
		s.found[p] = moduleFindings(full, common, s.roots)
		return full
	}
	to, ok := strings.CutPrefix(FirstLine(full), "gitdir: ")
	at, err := filepath.EvalSymlinks(from(filepath.Dir(full), to))
	switch {
	case !ok:
		s.found[p] = []string{"it leads to another repository"}
		return ""
	case err != nil:
		s.found[p] = nil // of no use to Git
		return ""
	case within(at, filepath.Join(common, "modules")) || within(at, filepath.Join(common, "worktrees")):
		s.found[p] = nil // looked at there
	default:
		s.found[p] = moduleFindings(at, common, s.roots)
	}
	return at
}

// repository looks at what a repository notes, and at what leads Git away from it.
func (s *State) repository(common string) {
	for _, name := range leading() {
		if p := (place{base: common, rel: name}); exists(filepath.Join(common, name)) {
			s.found[p] = []string{leadsAway}
		}
	}
	for _, name := range s.entries(common, "worktrees") {
		rel := "worktrees/" + name
		s.found[place{base: common, rel: rel}] = worktreeFindings(filepath.Join(common, rel), common)
		if isFolder(filepath.Join(common, rel, "modules")) {
			s.modules(common, rel+"/modules", moduleDeep, maxNestedDeep)
		}
	}
	s.modules(common, "modules", moduleDeep, maxNestedDeep)
}

// modules looks at the repositories of submodules in the folder rel of common, and at
// those in them.
func (s *State) modules(common, rel string, deep, nested int) {
	for _, name := range s.entries(common, rel) {
		at := rel + "/" + name
		full, p := filepath.Join(common, at), place{base: common, rel: at}
		info, err := os.Lstat(full)
		switch {
		case err != nil:
		case !info.IsDir():
			s.found[p] = nil
			if info.Mode()&fs.ModeSymlink != 0 {
				s.found[p] = []string{"it leads to another folder"}
			}
		case !mayBe(full, true):
			if deep == 0 {
				s.found[p] = []string{"it lies deeper than is looked"}
				break
			}
			s.modules(common, at, deep-1, nested)
		default:
			s.found[p] = moduleFindings(full, common, s.roots)
			if !isFolder(filepath.Join(full, "modules")) {
				break
			}
			if nested == 0 {
				s.found[p] = append(s.found[p], "it has submodules deeper than is looked")
				break
			}
			s.modules(common, at+"/modules", moduleDeep, nested-1)
		}
	}
}

// entries returns the names in a folder; with more than are looked at the folder itself
// is a finding, and so is a link in its place.
func (s *State) entries(common, rel string) []string {
	p := place{base: common, rel: rel}
	full := filepath.Join(common, rel)
	if !exists(full) {
		return nil
	}
	if !isFolder(full) {
		s.found[p] = []string{"it is not a folder"}
		return nil
	}
	f, err := os.Open(full)
	if err != nil {
		s.found[p] = []string{"it cannot be read"}
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxEntries + 1)
	if len(names) > maxEntries {
		s.found[p] = []string{fmt.Sprintf("it holds more than %d entries", maxEntries)}
		return nil
	}
	slices.Sort(names)
	return names
}

// move moves what is at the place. It goes through a handle on its base, so that no link
// leads out of that.
func (p place) move(now time.Time) (to string, err error) {
	root, err := os.OpenRoot(p.base)
	if err != nil {
		return "", err
	}
	defer root.Close()
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	folder := "scorel-set-aside-" + now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(random[:])
	if err := root.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	// Not under its own name: nothing there should be a repository for Git.
	name := folder + "/" + strings.ReplaceAll(strings.TrimPrefix(p.rel, "."), "/", "--") + ".aside"
	if err := root.Rename(p.rel, name); err != nil {
		_ = root.Remove(folder)
		return "", err
	}
	return filepath.Join(p.base, name), nil
}
