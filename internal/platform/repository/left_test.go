package repository

import (
	"path/filepath"
	"testing"
)

func TestWhatLeadsAwayFromARepositoryIsFoundAlsoWhenNobodySawItCome(t *testing.T) {
	ws := workspace(t)
	git(t, ws, "worktree", "add", "-q", "tree") // whose commondir and gitdir are right
	if left := Left([]string{ws, filepath.Join(ws, "tree"), filepath.Join(ws, "nowhere")}); len(left) != 0 {
		t.Errorf("of a sound repository: %+v", left)
	}
	plant(t, ws+"/.git/commondir", "../evil\n")
	for _, root := range []string{ws, filepath.Join(ws, "tree")} {
		left := Left([]string{root})
		if len(left) != 1 || left[0].Path != ws+"/.git/commondir" || left[0].To != "" || left[0].Err == nil || left[0].Why == "" {
			t.Errorf("from %s: %+v", root, left)
		}
	}
	if !exists(ws + "/.git/commondir") {
		t.Error("it was moved")
	}
}
