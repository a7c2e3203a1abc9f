package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	maxPointer = 4096    // bytes of a file that names a repository
	maxConfig  = 1 << 20 // bytes of a repository's configuration
	maxModules = 64      // repositories of submodules, and worktrees elsewhere, that are protected of a repository
	moduleDeep = 4       // folders that the name of a submodule may have
	maxLooked  = 2_000   // folders in which submodules are looked for
)

// guard says how the folders of a workspace are protected: what stands in these
// places is run or believed later, by people's own programs.
type guard struct {
	writable []string // the repository of a worktree or a submodule, elsewhere
	pinned   []string
	readOnly []string // what exists of it
	watched  []string // all of it, also what may yet be made
}

// protect gives the guard of one root. What cannot be read is not there.
func protect(root string) guard {
	var g guard
	for _, name := range []string{".scorel", ".claude", ".agents", ".mcp.json", ".vscode", ".envrc"} {
		g.shield(root, name)
	}
	dot := filepath.Join(root, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil:
		g.watched = append(g.watched, dot+"/config", dot+"/hooks")
	case info.IsDir():
		g.repository(dot, root)
	default:
		g.shield(root, ".git")
		dir, common := linked(root, dot)
		if dir == "" {
			break
		}
		g.writable = append(g.writable, common)
		g.repository(common, root)
		if dir != common {
			g.pinned = append(g.pinned, filepath.Join(common, "worktrees"), dir)
			g.worktree(dir)
		}
	}
	return g
}

// worktree protects what a repository notes of one worktree.
func (g *guard) worktree(dir string) {
	for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
		g.shield(dir, name)
	}
}

// shield watches name in dir and makes it read-only if it exists. A link counts
// only when it leads to something in dir: else a command could make one that has
// any folder made read-only.
func (g *guard) shield(dir, name string) {
	path := filepath.Join(dir, name)
	g.watched = append(g.watched, path)
	if real, err := filepath.EvalSymlinks(path); err == nil && real != dir && within(real, dir) {
		g.readOnly = append(g.readOnly, real)
	}
}

// repository protects the folder of a repository that is seen from root, what it
// notes of worktrees outside of root, and those of its submodules.
func (g *guard) repository(dir, root string) {
	g.settings(dir)
	trees, left := filepath.Join(dir, "worktrees"), maxModules
	for _, name := range list(trees) {
		at := filepath.Join(trees, name)
		if left == 0 || !leadsOutside(at, root) {
			continue
		}
		left--
		g.pinned = append(g.pinned, trees, at)
		g.worktree(at)
	}
	g.modules(filepath.Join(dir, "modules"), moduleDeep, &budget{maxModules, maxLooked})
}

// settings protects what makes Git run programs in the repository at dir. A
// commondir in it would lead Git to another configuration.
func (g *guard) settings(dir string) {
	g.pinned = append(g.pinned, dir)
	for _, name := range []string{"hooks", "config", "config.worktree", "commondir"} {
		g.shield(dir, name)
	}
}

// leadsOutside says whether a repository's note of a worktree is of one that
// exists and does not lie in root. Those in root stay as commands make, move and
// remove them.
func leadsOutside(dir, root string) bool {
	file := firstLine(filepath.Join(dir, "gitdir"))
	if file == "" {
		return false
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	real, err := filepath.EvalSymlinks(filepath.Dir(file))
	return err == nil && !within(real, root)
}

// budget bounds a search for submodules.
type budget struct{ modules, folders int }

// modules finds the repositories below dir, and those in them. Their names may
// hold slashes.
func (g *guard) modules(dir string, deep int, left *budget) {
	if deep == 0 {
		return
	}
	for _, name := range list(dir) {
		at := filepath.Join(dir, name)
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			continue
		}
		if left.folders--; left.folders < 0 || left.modules == 0 {
			return
		}
		if !isRepository(at) {
			g.modules(at, deep-1, left)
			continue
		}
		left.modules--
		g.settings(at)
		g.modules(filepath.Join(at, "modules"), moduleDeep, left)
	}
}

// linked gives the repository that a .git file names, and what it shares with
// other worktrees; both are "" unless that repository names root in turn. The
// file can be written by a command: without the answer from the other side it
// could open any folder.
func linked(root, file string) (dir, common string) {
	to, ok := strings.CutPrefix(firstLine(file), "gitdir: ")
	if !ok {
		return "", ""
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(root, to)
	}
	dir, err := filepath.EvalSymlinks(to)
	if err != nil || !isRepository(dir) {
		return "", ""
	}
	if parent := filepath.Dir(dir); filepath.Base(parent) == "worktrees" {
		common = filepath.Dir(parent)
		back := firstLine(filepath.Join(dir, "gitdir"))
		if !filepath.IsAbs(back) {
			back = filepath.Join(dir, back)
		}
		if sameFile(back, file) && isRepository(common) && hasObjects(common) {
			return dir, common
		}
		return "", ""
	}
	back := worktreeOf(filepath.Join(dir, "config"))
	if back == "" || !hasObjects(dir) {
		return "", ""
	}
	if !filepath.IsAbs(back) {
		back = filepath.Join(dir, back)
	}
	if sameFile(back, root) {
		return dir, dir
	}
	return "", ""
}

func isRepository(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil && info.Mode().IsRegular()
}

func hasObjects(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "objects"))
	return err == nil && info.IsDir()
}

// sameFile says whether two paths name one file.
func sameFile(a, b string) bool {
	i, err := os.Stat(a)
	j, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(i, j)
}

// worktreeOf gives core.worktree of a repository's configuration, "" without.
func worktreeOf(name string) string {
	data, err := readSmall(name, maxConfig)
	if err != nil {
		return ""
	}
	core := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = strings.EqualFold(line, "[core]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if core && ok && strings.EqualFold(strings.TrimSpace(key), "worktree") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}

func firstLine(name string) string {
	data, err := readSmall(name, maxPointer)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return string(bytes.TrimRight(line, "\r"))
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(name string, limit int64) ([]byte, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errors.New("it is no small file")
	}
	return data, err
}

// openRegular opens a file where commands write. What is no regular file is
// refused, also when it has just taken the place of one: opening a pipe would
// wait for its other end.
func openRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	return f, nil
}

// guards joins the guards of all roots, without what is closed anyway.
func guards(roots, closed []string) guard {
	var g guard
	for _, root := range roots {
		one := protect(root)
		g.writable = append(g.writable, one.writable...)
		g.pinned = append(g.pinned, one.pinned...)
		g.readOnly = append(g.readOnly, one.readOnly...)
		g.watched = append(g.watched, one.watched...)
	}
	hidden := func(path string) bool {
		return slices.ContainsFunc(closed, func(c string) bool { return within(path, c) })
	}
	for _, list := range []*[]string{&g.writable, &g.pinned, &g.readOnly, &g.watched} {
		*list = slices.DeleteFunc(*list, hidden)
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return g
}
