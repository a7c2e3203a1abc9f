package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"scorel/internal/platform/repository"
)

const (
	maxModules = 64    // repositories of submodules, and worktrees elsewhere, that are protected of a repository
	moduleDeep = 4     // folders that the name of a submodule may have
	maxLooked  = 2_000 // folders in which submodules are looked for
)

// guard returns how the folders of a workspace are protected: what is in these
// places is run or believed later, by people's own programs.
type guard struct {
	writable []string // the repository of a worktree or a submodule, elsewhere
	pinned   []string
	readOnly []string // what exists of it
	watched  []string // all of it, also what may yet be made
}

// protect returns the guard of one root. What cannot be read is not there.
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
		dir, common := repository.Linked(root, dot)
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

// leadsOutside reports whether a repository's note of a worktree is of one that
// exists and does not lie in root. Those in root stay as commands make, move and
// remove them.
func leadsOutside(dir, root string) bool {
	file := repository.FirstLine(filepath.Join(dir, "gitdir"))
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
		if !repository.IsRepository(at) {
			g.modules(at, deep-1, left)
			continue
		}
		left.modules--
		g.settings(at)
		g.modules(filepath.Join(at, "modules"), moduleDeep, left)
	}
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
