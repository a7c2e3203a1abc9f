package permission

import (
	"strings"

	"scorel/internal/engine/permission/shellparse"
)

// gitSubcommand returns the place of git's subcommand: after the options that
// are before it. It is len(words) when there is none.
func gitSubcommand(words []shellparse.Word) int {
	for i := 1; i < len(words); i++ {
		switch t := words[i].Text; {
		case t == "-c" || t == "-C" || t == "--git-dir" || t == "--work-tree" || t == "--namespace" ||
			t == "--exec-path" || t == "--config-env" || t == "--super-prefix" || t == "--attr-source":
			i++
		case strings.HasPrefix(t, "-"):
		default:
			return i
		}
	}
	return len(words)
}

// gitKeepsMeaning reports whether a prefix rule that names the first words may cover
// a git command: no option that the rule does not name is before the
// subcommand; the subcommand is named, or is one of git's own that does not run
// commands it is given (an alias can be anything); and no option after it starts
// a program or writes a file of the caller's choice. Git takes any unambiguous
// beginning of a long option for the option.
func gitKeepsMeaning(words []shellparse.Word, named int) bool {
	at := gitSubcommand(words)
	if at == len(words) {
		return len(words) == named || (len(words) == 2 && words[1].Literal && words[1].Text == "--version")
	}
	sub := words[at]
	switch {
	case at > named:
		return false
	case at == named && (!sub.Literal || !gitBuiltin(sub.Text)):
		return false
	case gitRuns(sub.Text) && named < at+2:
		return false
	}
	options := true
	for _, w := range words[max(named, at+1):] {
		switch {
		case !w.Literal && gitRemote(sub.Text):
			return false // it could become an address that runs a program
		case w.Literal && w.Text == "--":
			options = false
		case !options:
			if strings.HasPrefix(w.Text, "ext::") || strings.HasPrefix(w.Text, "fd::") {
				return false
			}
		case !w.Literal && !w.Operand:
			return false // it could become an option
		case strings.HasPrefix(w.Text, "--"): // the table has those that count
		case strings.HasPrefix(w.Text, "-"):
			if gitShortOption(sub.Text, w.Text) {
				return false
			}
		case strings.HasPrefix(w.Text, "ext::") || strings.HasPrefix(w.Text, "fd::"):
			return false // transports that run a program
		}
	}
	return true
}

// gitRemote lists the subcommands that take addresses.
func gitRemote(sub string) bool {
	switch sub {
	case "clone", "fetch", "pull", "push", "ls-remote", "remote", "archive":
		return true
	}
	return false
}

// gitLong are the long options of git's subcommands that run a program, change the
// configuration or write a file.
var gitLong = []string{"config", "config-env", "exec", "exec-path", "ext-diff", "textconv", "extcmd", "output", "output-directory",
	"upload-pack", "receive-pack", "open-files-in-pager", "git-dir", "work-tree", "separate-git-dir", "template",
	"tool", "gui", "paginate", "no-index", "filter-process", "pager", "upload-archive", "remote", "editor", "sequence-editor", "gpg-sign"}

// gitShortOption reports whether a short option runs a program or writes a file, alone, in a cluster or with
// its value attached.
func gitShortOption(sub, option string) bool {
	bad := ""
	switch sub {
	case "clone":
		bad = "cu"
	case "fetch", "pull", "ls-remote":
		bad = "u"
	case "grep":
		bad = "O"
	case "format-patch", "archive":
		bad = "o"
	case "rebase", "difftool":
		bad = "x"
	case "init":
		bad = "c"
	case "commit", "tag", "merge", "cherry-pick", "revert":
		bad = "S"
	}
	return bad != "" && strings.ContainsAny(option[1:], bad)
}

// gitRuns lists subcommands that exist to run commands, or to say what is run: a
// rule has to name one word more (git bisect good, git config --get).
func gitRuns(sub string) bool {
	switch sub {
	case "bisect", "config", "difftool", "filter-branch", "for-each-repo", "hook", "mergetool", "send-email", "shell", "submodule", "daemon", "credential":
		return true
	}
	return false
}

// gitBuiltin lists the subcommands that are part of git and not in gitRuns: an
// alias cannot replace them.
func gitBuiltin(name string) bool {
	switch name {
	case "add", "am", "annotate", "apply", "archive", "blame", "branch", "bundle", "cat-file", "check-attr",
		"check-ignore", "check-mailmap", "check-ref-format", "checkout", "cherry", "cherry-pick", "clean", "clone",
		"commit", "commit-tree", "count-objects", "describe", "diff", "diff-files", "diff-index", "diff-tree",
		"fetch", "for-each-ref", "format-patch", "fsck", "gc", "grep", "hash-object", "init", "log", "ls-files",
		"ls-remote", "ls-tree", "merge", "merge-base", "merge-tree", "mktree", "mv", "name-rev", "notes", "pull",
		"push", "range-diff", "rebase", "reflog", "remote", "repack", "replace", "reset", "restore", "rev-list",
		"rev-parse", "revert", "rm", "shortlog", "show", "show-branch", "show-ref", "sparse-checkout", "stash",
		"status", "switch", "symbolic-ref", "tag", "update-index", "update-ref", "var", "verify-commit",
		"verify-tag", "version", "whatchanged", "worktree", "write-tree":
		return true
	}
	return false
}
