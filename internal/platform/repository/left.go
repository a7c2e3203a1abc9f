package repository

import (
	"errors"
	"os"
	"path/filepath"
)

// errLeft reports that nobody watched when something came.
var errLeft = errors.New("it was there before this session was opened")

// Left returns what leads Git away from the repositories of the roots, absolute folders
// without symlinks, and is in the place where no repository has it. A command of a host
// that was killed may have left it: nothing is moved, so each has an Err.
func Left(roots []string) []Aside {
	var out []Aside
	for _, root := range roots {
		common := filepath.Join(root, ".git")
		info, err := os.Lstat(common)
		if err == nil && !info.IsDir() {
			_, common = Linked(root, common)
		}
		if err != nil || common == "" {
			continue
		}
		for _, name := range leading() {
			if path := filepath.Join(common, name); exists(path) {
				out = append(out, Aside{Path: path, Why: leadsAway, Err: errLeft})
			}
		}
	}
	return out
}

// leading are the files that lead Git to another repository where they are in the folder of
// one, and leadsAway says so.
func leading() []string { return []string{"commondir", "gitdir"} }

const leadsAway = "it leads Git to the configuration of another repository"
