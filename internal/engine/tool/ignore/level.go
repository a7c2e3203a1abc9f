package ignore

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxFile  = 1 << 20 // bytes that are read of an ignore file
	maxRules = 20_000
)

// file holds the rules of one ignore file.
type file struct {
	dir   string // absolute; the rules are relative to it
	rules []rule
}

// Level is what one folder adds to what is ignored below it, and the
// levels above. The order of force is ripgrep's: any .rgignore before any
// .ignore before any .gitignore before info/exclude; within a kind the deeper
// file, within a file the later line. Git's files count in repositories only.
type Level struct {
	up     *Level
	kinds  [4]*file // .rgignore, .ignore, .gitignore, info/exclude
	isRepo bool     // there is a .git in the folder
	inRepo bool     // in the folder or above
}

const firstGitKind = 2

// Above reads the ignore files of dir's parents, the root's first.
func Above(dir string) *Level {
	parent := filepath.Dir(dir)
	if parent == dir {
		return nil
	}
	return Above(parent).Enter(parent, func(name string) bool {
		_, err := os.Lstat(filepath.Join(parent, name))
		return err == nil
	})
}

// Enter returns the level of dir, an absolute path, below l, which may be nil. has
// reports whether the folder has an entry.
func (l *Level) Enter(dir string, has func(name string) bool) *Level {
	n := &Level{up: l}
	empty := true
	for i, name := range [...]string{".rgignore", ".ignore", ".gitignore"} {
		if has(name) {
			n.kinds[i] = readFile(dir, filepath.Join(dir, name))
			empty = empty && n.kinds[i] == nil
		}
	}
	if has(".git") {
		n.isRepo, empty = true, false
		if git := commonGitDir(dir); git != "" {
			n.kinds[3] = readFile(dir, filepath.Join(git, "info", "exclude"))
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

// readFile returns nil for a file without rules.
func readFile(dir, name string) *file {
	r := openRegular(name)
	if r == nil {
		return nil
	}
	defer r.Close()
	f := &file{dir: dir}
	lines := bufio.NewScanner(io.LimitReader(r, maxFile))
	lines.Buffer(nil, maxFile)
	for lines.Scan() && len(f.rules) < maxRules {
		if rule, ok := parseLine(lines.Text()); ok {
			f.rules = append(f.rules, rule)
		}
	}
	if len(f.rules) == 0 {
		return nil
	}
	return f
}

// Verdict is what ignore files say about a path.
type Verdict int

const (
	Unnamed  Verdict = iota // nothing
	Ignored                 // leave it out
	Included                // show it, also when it is hidden
)

// Judge says what holds for an entry of the level's folder, an absolute path.
func (l *Level) Judge(path string, dir bool) Verdict { return l.judgeBy(path, dir, 0) }

// JudgeByGit is Judge by .gitignore files and info/exclude alone.
func (l *Level) JudgeByGit(path string, dir bool) Verdict { return l.judgeBy(path, dir, firstGitKind) }

// judgeBy is Judge by the kinds of files from the first on.
func (l *Level) judgeBy(path string, dir bool, first int) Verdict {
	if l == nil {
		return Unnamed
	}
	var found [4]Verdict
	outside := !l.inRepo
	for at := l; at != nil; at = at.up {
		for kind, file := range at.kinds {
			if file == nil || found[kind] != Unnamed || kind >= firstGitKind && outside {
				continue
			}
			found[kind] = file.judge(path, dir)
		}
		outside = outside || at.isRepo // rules above a repository's root are not its own
	}
	for _, v := range found[first:] {
		if v != Unnamed {
			return v
		}
	}
	return Unnamed
}

func (f *file) judge(path string, dir bool) Verdict {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, f.dir), "/")
	for i := len(f.rules) - 1; i >= 0; i-- {
		if r := &f.rules[i]; r.match(rel, dir) {
			if r.include {
				return Included
			}
			return Ignored
		}
	}
	return Unnamed
}
