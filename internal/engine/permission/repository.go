package permission

import (
	"path"
	"strings"

	"scorel/internal/engine/permission/shellparse"
)

// Repository is what Git would use in a folder.
type Repository struct {
	// Foreign says why rules about Git do not count there, and names the repository; "" for
	// the workspace's own, for a worktree or submodule that it names, and for none.
	Foreign string
	// Fixed says that no command of the line can change this: the folder is itself the root
	// of the workspace and has its repository.
	Fixed bool
}

// git returns why no rule about Git counts for a step, "" where one does and for a step
// that does not start Git.
func (at *places) git(words []shellparse.Word) string {
	words = startsGit(words, maxInner)
	if words == nil || at.repository == nil {
		return ""
	}
	for _, dir := range at.now {
		for i := 1; i < len(words); i++ {
			switch t := words[i].Text; {
			case t == "-C" && i+1 < len(words):
				if i++; words[i].Text != "" {
					dir = from(dir, words[i].Text)
				}
				if climbsBack(words[i].Text) {
					return "where " + quoted(t+" "+words[i].Text) + " leads is not certain"
				}
			case t == "--bare" || t == "--git-dir" || strings.HasPrefix(t, "--git-dir="):
				return "it names a repository itself"
			case t == "-c" || t == "--work-tree" || t == "--namespace" || t == "--exec-path" || t == "--config-env" || t == "--super-prefix" || t == "--attr-source":
				i++
			case strings.HasPrefix(t, "-"):
			default:
				i = len(words)
			}
		}
		switch r := at.repository(at.resolve(dir).Abs); {
		case r.Foreign != "":
			return r.Foreign
		case !r.Fixed && at.plants:
			return "another part of the line could put a repository into " + dir
		}
	}
	return ""
}

func from(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// startsGit returns the words of git where a command is git or starts it, else nil.
func startsGit(words []shellparse.Word, depth int) []shellparse.Word {
	if len(words) == 0 || path.Base(words[0].Text) == "git" {
		return words
	}
	if depth == 0 {
		return nil
	}
	for _, in := range shellparse.Unwrap(words) {
		if found := startsGit(in.Words, depth-1); len(found) > 0 {
			return found
		}
	}
	return nil
}

// plants reports whether a step could put a repository into a folder: all can but those
// that are known to leave files alone.
func plants(step shellparse.Step) bool {
	for _, r := range step.Redirects {
		if r.Effect == shellparse.Writes && !harmlessDevice(r) {
			return true
		}
	}
	if step.Test || len(step.Words) == 0 {
		return false
	}
	switch step.Words[0].Text {
	case "git":
		at := gitSubcommand(step.Words)
		if at == len(step.Words) {
			return false
		}
		return !gitLeavesFiles(step.Words[at].Text)
	case "cd", "pwd", "echo", "printf", "true", "false", ":", "exit", "test", "[", "ls", "cat", "head", "tail", "grep", "wc", "cut", "tr", "stat", "du", "df",
		"basename", "dirname", "realpath", "date", "whoami", "uname", "which", "sleep", "seq", "cmp":
		return false
	}
	return true
}

// gitLeavesFiles reports whether a subcommand of git leaves the files as they are that it is
// given.
func gitLeavesFiles(sub string) bool {
	switch sub {
	case "add", "annotate", "blame", "branch", "cat-file", "check-ignore", "commit", "describe", "diff", "fetch", "for-each-ref", "grep", "log", "ls-files",
		"ls-remote", "ls-tree", "merge-base", "name-rev", "push", "reflog", "remote", "rev-list", "rev-parse", "shortlog", "show", "show-ref", "status",
		"switch", "tag", "version":
		return true
	}
	return false
}
