package tool

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"

	"scorel/internal/engine/tool/files"
)

const (
	maxIgnoreFile  = 1 << 20 // bytes that are read of an ignore file
	maxIgnoreRules = 20_000
)

// ignoreFile holds the rules of one ignore file.
type ignoreFile struct {
	dir   string // absolute; the rules are relative to it
	rules []ignoreRule
}

// ignoreLevel is what one folder adds to what is ignored below it, and the
// levels above. The order of force is ripgrep's: any .rgignore before any
// .ignore before any .gitignore before info/exclude; within a kind the deeper
// file, within a file the later line. Git's files count in repositories only.
type ignoreLevel struct {
	up     *ignoreLevel
	kinds  [4]*ignoreFile // .rgignore, .ignore, .gitignore, info/exclude
	isRepo bool           // there is a .git in the folder
	inRepo bool           // in the folder or above
}

const firstGitKind = 2

// ignoreAbove reads the ignore files of dir's parents, the root's first.
func ignoreAbove(dir string) *ignoreLevel {
	parent := filepath.Dir(dir)
	if parent == dir {
		return nil
	}
	return ignoreAbove(parent).enter(parent, func(name string) bool {
		_, err := os.Lstat(filepath.Join(parent, name))
		return err == nil
	})
}

// enter returns the level of dir, an absolute path, below l, which may be nil. has
// reports whether the folder has an entry.
func (l *ignoreLevel) enter(dir string, has func(name string) bool) *ignoreLevel {
	n := &ignoreLevel{up: l}
	empty := true
	for i, name := range [...]string{".rgignore", ".ignore", ".gitignore"} {
		if has(name) {
			n.kinds[i] = readIgnoreFile(dir, filepath.Join(dir, name))
			empty = empty && n.kinds[i] == nil
		}
	}
	if has(".git") {
		n.isRepo, empty = true, false
		if git := commonGitDir(dir); git != "" {
			n.kinds[3] = readIgnoreFile(dir, filepath.Join(git, "info", "exclude"))
		}
	}
	if empty && l != nil {
		return l
	}
	n.inRepo = n.isRepo || l != nil && l.inRepo
	return n
}

// commonGitDir returns the folder with info/exclude for a working tree. A linked
// worktree's .git file names a folder whose commondir names it.
func commonGitDir(dir string) string {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	if err != nil || info.IsDir() {
		return dotGit
	}
	git, ok := strings.CutPrefix(firstLine(dotGit), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(git) {
		git = filepath.Join(dir, git)
	}
	common := firstLine(filepath.Join(git, "commondir"))
	switch {
	case common == "":
		return ""
	case filepath.IsAbs(common):
		return common
	}
	return filepath.Join(git, common)
}

func firstLine(name string) string {
	r := openRegular(name)
	if r == nil {
		return ""
	}
	defer r.Close()
	line, _ := bufio.NewReader(io.LimitReader(r, 4096)).ReadString('\n')
	return strings.TrimRight(line, "\r\n")
}

func openRegular(name string) *os.File {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	return f
}

// readIgnoreFile returns nil for a file without rules.
func readIgnoreFile(dir, name string) *ignoreFile {
	r := openRegular(name)
	if r == nil {
		return nil
	}
	defer r.Close()
	f := &ignoreFile{dir: dir}
	lines := bufio.NewScanner(io.LimitReader(r, maxIgnoreFile))
	lines.Buffer(nil, maxIgnoreFile)
	for lines.Scan() && len(f.rules) < maxIgnoreRules {
		if rule, ok := parseIgnoreLine(lines.Text()); ok {
			f.rules = append(f.rules, rule)
		}
	}
	if len(f.rules) == 0 {
		return nil
	}
	return f
}

// verdict is what ignore files say about a path.
type verdict int

const (
	unnamed  verdict = iota // nothing
	ignored                 // leave it out
	included                // show it, also when it is hidden
)

// judge says what holds for an entry of the level's folder.
func (l *ignoreLevel) judge(path string, dir bool) verdict { return l.judgeBy(path, dir, 0) }

// judgeBy is judge by the kinds of files from the first on.
func (l *ignoreLevel) judgeBy(path string, dir bool, first int) verdict {
	if l == nil {
		return unnamed
	}
	var found [4]verdict
	outside := !l.inRepo
	for at := l; at != nil; at = at.up {
		for kind, file := range at.kinds {
			if file == nil || found[kind] != unnamed || kind >= firstGitKind && outside {
				continue
			}
			found[kind] = file.judge(path, dir)
		}
		outside = outside || at.isRepo // rules above a repository's root are not its own
	}
	for _, v := range found[first:] {
		if v != unnamed {
			return v
		}
	}
	return unnamed
}

func (f *ignoreFile) judge(path string, dir bool) verdict {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, f.dir), "/")
	for i := len(f.rules) - 1; i >= 0; i-- {
		if r := &f.rules[i]; r.match(rel, dir) {
			if r.include {
				return included
			}
			return ignored
		}
	}
	return unnamed
}

// gitIgnores reports whether a folder of the workspace, absolute and without symlinks,
// lies in one that Git ignores by .gitignore files and info/exclude, or in a .git folder.
// Whether something in it is tracked all the same is not looked at.
func gitIgnores(f *files.Files, dir string) bool {
	for _, root := range f.Folders() {
		if !files.Within(dir, root) {
			continue
		}
		level := ignoreAbove(root)
		at, rest := root, strings.TrimPrefix(strings.TrimPrefix(dir, root), "/")
		for name := range strings.SplitSeq(rest, "/") {
			if name == "" {
				return false
			}
			level = level.enter(at, func(name string) bool {
				_, err := os.Lstat(filepath.Join(at, name))
				return err == nil
			})
			at = filepath.Join(at, name)
			if name == ".git" || level.judgeBy(at, true, firstGitKind) == ignored {
				return true
			}
		}
		return false
	}
	return false
}
