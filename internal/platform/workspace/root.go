package workspace

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// maxPointer bounds what is read of .git, HEAD and commondir files.
const maxPointer = 4096

// Root returns the workspace of dir, absolute and without symlinks: the root of
// the Git working tree around dir, or dir itself outside of one. commonDir is
// the repository's own folder, which linked worktrees share; "" outside of one. It is the
// .git of the root where that names a repository which does not know this working tree: a
// file in a folder cannot make that folder a part of another project.
// A dir that cannot be resolved is given back as it is.
//
// A folder in which others can put files is nobody's workspace but of who works
// in it: a .git that somebody else put into /tmp does not make all of /tmp the
// workspace of a project below it. Nor is the user's home, or what it lies in, the
// workspace of a folder below: who keeps their settings in a repository at home
// does not open all of it to each project without one. "" is no home.
func Root(dir, home string) (root, commonDir string) {
	dir = resolve(dir)
	if at, gitDir := repository(dir, home); gitDir != "" {
		if common := commonDirOf(gitDir); owns(common, gitDir, at) {
			return at, common
		}
		return at, filepath.Join(at, ".git")
	}
	return dir, ""
}

// owns reports whether the repository common has the working tree root, whose Git folder is
// gitDir: as its own, as a worktree that was linked, or as that of a submodule
// (gitrepository-layout(5)). A repository that was made with --separate-git-dir says nothing
// of its working tree.
func owns(common, gitDir, root string) bool {
	gitDir = resolve(gitDir)
	if gitDir == filepath.Join(root, ".git") {
		return common == gitDir
	}
	if common != gitDir {
		back := read(filepath.Join(gitDir, "gitdir"))
		if !filepath.IsAbs(back) {
			back = filepath.Join(gitDir, back)
		}
		return filepath.Dir(gitDir) == filepath.Join(common, "worktrees") && resolve(filepath.Dir(back)) == root && filepath.Base(back) == ".git"
	}
	if tree := worktreeOf(gitDir); tree != "" {
		return resolve(tree) == root
	}
	return filepath.Base(gitDir) != ".git" // else it is that of the folder in which it lies
}

// maxConfig bounds what is read of the configuration of a repository.
const maxConfig = 1 << 20

// worktreeOf returns core.worktree of a repository, "" without one.
func worktreeOf(gitDir string) string {
	name := filepath.Join(gitDir, "config")
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	core, tree := false, ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = strings.EqualFold(line, "[core]")
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if core && strings.EqualFold(strings.TrimSpace(key), "worktree") {
			tree = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	if tree != "" && !filepath.IsAbs(tree) {
		tree = filepath.Join(gitDir, tree)
	}
	return tree
}

// repository returns the root of the working tree around dir, which is resolved,
// and its Git folder; "" without one.
func repository(dir, home string) (root, gitDir string) {
	if home != "" {
		home = resolve(home)
	}
	for at := dir; at == dir || !within(home, at) && foreign(at, os.Getuid()) == ""; at = filepath.Dir(at) {
		if gitDir := gitDirOf(at); gitDir != "" {
			return at, gitDir
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return "", ""
}

// Branch returns the branch that is checked out around dir; the first 12 digits of
// the commit when none is, and "" outside of a repository, as [Root] sees it.
func Branch(dir, home string) string {
	_, gitDir := repository(resolve(dir), home)
	if gitDir == "" {
		return ""
	}
	head := read(filepath.Join(gitDir, "HEAD"))
	if ref, ok := strings.CutPrefix(head, "ref: "); ok {
		return strings.TrimPrefix(strings.TrimSpace(ref), "refs/heads/")
	}
	return head[:min(len(head), 12)]
}

// within reports whether path is dir or lies in it; "" lies nowhere.
func within(path, dir string) bool {
	return path != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

func resolve(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return abs
}

// gitDirOf returns the Git folder of a working tree whose root is dir, or "". A
// .git file names it (gitrepository-layout(5)). A folder counts when it has a
// HEAD, as for Git itself.
func gitDirOf(dir string) string {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		to, ok := strings.CutPrefix(read(dotGit), "gitdir: ")
		if !ok {
			return ""
		}
		if dotGit = to; !filepath.IsAbs(to) {
			dotGit = filepath.Join(dir, to)
		}
	}
	if read(filepath.Join(dotGit, "HEAD")) == "" {
		return ""
	}
	return dotGit
}

func commonDirOf(gitDir string) string {
	to := read(filepath.Join(gitDir, "commondir"))
	switch {
	case to == "":
		return resolve(gitDir)
	case filepath.IsAbs(to):
		return resolve(to)
	}
	return resolve(filepath.Join(gitDir, to))
}

// read returns the first line of a small file, "" when there is none.
func read(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPointer {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return string(bytes.TrimRight(line, "\r"))
}
