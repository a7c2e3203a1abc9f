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
// the repository's own folder, which linked worktrees share; "" outside of one.
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
		return at, commonDirOf(gitDir)
	}
	return dir, ""
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
