package repository

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxHook is how many bytes of a hook are compared with the repository's own.
const maxHook = 1 << 20

// harmless reports whether a setting has Git run nothing and read no other
// configuration: those that Git itself writes into a submodule, and settings of a
// person. Every other key counts as one that runs a program, so that a newer Git has no
// key that is forgotten here.
func (s setting) harmless() bool {
	section, name := s.key[:strings.IndexByte(s.key, '.')], s.key[strings.LastIndexByte(s.key, '.')+1:]
	plain := strings.Count(s.key, ".") == 1
	switch section {
	case "core":
		switch name {
		case "repositoryformatversion", "filemode", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks",
			"autocrlf", "eol", "safecrlf", "sparsecheckout", "sparsecheckoutcone", "longpaths", "protecthfs", "protectntfs",
			"quotepath", "compression", "bigfilethreshold", "multipackindex", "commitgraph", "untrackedcache", "splitindex", "worktree":
			return plain
		case "bare":
			return plain && (s.value == "false" || s.value == "true")
		case "fsmonitor":
			return plain && slices.Contains([]string{"false", "true", "no", "yes", "off", "on", "0", "1"}, strings.ToLower(s.value))
		}
	case "user":
		return plain && (name == "name" || name == "email")
	case "extensions":
		return plain && slices.Contains([]string{"objectformat", "partialclone", "worktreeconfig", "refstorage", "compatobjectformat", "preciousobjects"}, name)
	case "remote":
		switch name {
		case "url", "pushurl":
			return !strings.Contains(s.value, "::") && !strings.HasPrefix(s.value, "-")
		case "fetch", "push", "promisor", "partialclonefilter", "tagopt", "prune", "prunetags", "mirror", "skipdefaultupdate", "skipfetchall":
			return true
		}
	case "branch":
		return slices.Contains([]string{"remote", "pushremote", "merge", "rebase", "description", "autosetuprebase", "autosetupmerge"}, name)
	case "submodule":
		switch name {
		case "active", "url", "branch", "ignore", "fetchrecursesubmodules", "recurse", "alternatelocation", "alternateerrorstrategy", "shallow":
			return !strings.Contains(s.value, "::")
		case "update":
			return !strings.HasPrefix(s.value, "!")
		}
	}
	return false
}

// running returns what of a configuration file would have Git run a program, named
// within rel; a file that cannot be read with certainty is one finding.
func running(name, rel string) []string {
	settings, err := readConfig(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []string{rel + " cannot be read"}
	}
	var out []string
	for _, s := range settings {
		if !s.harmless() {
			out = append(out, rel+" sets "+s.key+" = "+s.value)
		}
	}
	return out
}

// hooks returns the hooks of a repository that common, the repository it belongs to, does
// not have, too: Git copies the same templates into both.
func hooks(dir, common string) []string {
	at := filepath.Join(dir, "hooks")
	if !exists(at) {
		return nil
	}
	if !isFolder(at) {
		return []string{"hooks is not a folder"}
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return []string{"hooks cannot be read"}
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sample") {
			continue
		}
		mine, err := ReadSmall(filepath.Join(at, e.Name()), maxHook)
		own, err2 := ReadSmall(filepath.Join(common, "hooks", e.Name()), maxHook)
		if err != nil || err2 != nil || !bytes.Equal(mine, own) {
			out = append(out, "hooks/"+e.Name())
		}
	}
	return out
}

// worktreeFindings returns why what the repository at common notes of a worktree, at dir,
// would have Git run programs or use another repository.
func worktreeFindings(dir, common string) []string {
	if !isFolder(dir) {
		return []string{"it is not a folder"}
	}
	var out []string
	to, err := filepath.EvalSymlinks(from(dir, FirstLine(filepath.Join(dir, "commondir"))))
	if !exists(filepath.Join(dir, "commondir")) || err != nil || to != common {
		if !empty(dir) {
			out = append(out, "commondir does not lead to this repository")
		}
	}
	return append(out, running(filepath.Join(dir, "config.worktree"), "config.worktree")...)
}

// empty reports whether a folder has nothing that Git would use: worktree add makes it
// before it writes commondir.
func empty(dir string) bool {
	return !exists(filepath.Join(dir, "HEAD"))
}

// moduleFindings returns the same of the repository of a submodule, at dir; its working
// tree must lie in one of the roots.
func moduleFindings(dir, common string, roots []string) []string {
	var out []string
	for _, name := range []string{"commondir", "gitdir"} {
		if exists(filepath.Join(dir, name)) {
			out = append(out, name+" leads to another repository")
		}
	}
	for _, name := range []string{"config", "config.worktree"} {
		out = append(out, running(filepath.Join(dir, name), name)...)
	}
	if tree := worktreeOf(dir); tree != "" {
		at, err := real(tree)
		if err != nil || !slices.ContainsFunc(roots, func(root string) bool { return within(at, root) }) {
			out = append(out, "core.worktree leads out of the workspace")
		}
	}
	return append(out, hooks(dir, common)...)
}
