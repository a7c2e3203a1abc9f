package repository

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDiscoverFindsWhatGitUses(t *testing.T) {
	base := folder(t)
	ws := filepath.Join(base, "ws")
	plant(t, ws+"/", "")
	git(t, ws, "init", "-q", "-b", "main")
	git(t, ws, "commit", "-q", "--allow-empty", "-m", "x")
	git(t, ws, "worktree", "add", "-q", "../tree")
	plant(t, ws+"/src/deep/", "")
	bare(t, ws+"/docs/api", "")
	plant(t, ws+"/docs/api/in/", "")
	bare(t, ws+"/nested/.git", "")
	plant(t, ws+"/nested/sub/", "")
	plant(t, ws+"/file/.git", "gitdir: ../docs/api\n")
	plant(t, ws+"/hollow/.git/", "")
	plant(t, ws+"/common/HEAD", "ref: refs/heads/main\n")
	plant(t, ws+"/common/commondir", "../docs/api\n")
	if err := os.Symlink(ws+"/docs/api", ws+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../docs/api", ws+"/hollow/real"); err != nil {
		t.Fatal(err)
	}
	plant(t, ws+"/dotlink/", "")
	if err := os.Symlink("../docs/api", ws+"/dotlink/.git"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir string
		env []string
	}{
		{"", nil}, {"src/deep", nil}, {"docs", nil}, {"docs/api", nil}, {"docs/api/in", nil}, {"docs/api/refs", nil}, {"nested", nil}, {"nested/sub", nil},
		{"file", nil}, {"hollow", nil}, {"common", nil}, {"link", nil}, {"link/in", nil}, {"hollow/real", nil}, {"dotlink", nil}, {".git", nil}, {".git/refs", nil},
		{"../tree", nil}, {"..", nil},
		{"src", []string{"GIT_DIR=../docs/api"}}, {"src", []string{"GIT_DIR=" + ws + "/file/.git"}},
		{"src/deep", []string{"GIT_CEILING_DIRECTORIES=" + ws}}, {"src/deep", []string{"GIT_CEILING_DIRECTORIES=" + ws + "/src:" + base}},
		{"src/deep", []string{"GIT_CEILING_DIRECTORIES=" + base}}, {"docs/api", []string{"GIT_CEILING_DIRECTORIES=" + ws + "/docs"}},
		{"docs/api/in", []string{"GIT_CEILING_DIRECTORIES=:" + ws + "/link"}}, {"docs/api/in", []string{"GIT_CEILING_DIRECTORIES=" + ws + "/link"}},
	} {
		dir := filepath.Join(ws, c.dir)
		want, err := tryGit(dir, c.env, "rev-parse", "--absolute-git-dir")
		want = strings.TrimSpace(want)
		if err != nil {
			want = ""
		}
		if want != "" {
			if want, err = filepath.EvalSymlinks(want); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Discover(dir, c.env)
		if got.Dir != want || err != nil {
			t.Errorf("%s %q: %+v, %v; Git uses %q", c.dir, c.env, got, err, want)
		}
	}
}

// TestWhatGitUsesIsNeverTakenForAnotherRepository builds folders at random: where Git
// uses a repository Discover returns that one, a nearer folder that Git refuses, or an
// error.
func TestWhatGitUsesIsNeverTakenForAnotherRepository(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	used := 0
	for range 60 {
		base := folder(t)
		dirs := []string{base, base + "/a", base + "/a/b", base + "/a/b/c"}
		plant(t, base+"/a/b/c/", "")
		for _, dir := range dirs {
			switch random.IntN(8) {
			case 0:
				bare(t, dir, "")
			case 1:
				bare(t, dir+"/.git", "")
			case 2:
				plant(t, dir+"/.git", "gitdir: "+dirs[random.IntN(4)]+"\n")
			case 3:
				plant(t, dir+"/HEAD", "ref: refs/heads/main\n")
				plant(t, dir+"/commondir", dirs[random.IntN(4)]+"\n")
			case 4:
				plant(t, dir+"/.git/HEAD", "ref: refs/heads/main\n")
			}
		}
		for _, dir := range dirs {
			want, err := tryGit(dir, nil, "rev-parse", "--absolute-git-dir")
			if err != nil {
				continue
			}
			used++
			got, err := Discover(dir, nil)
			if err == nil && got.Bare() && exists(got.Dir+"/commondir") {
				continue // it leads nowhere, so Git goes on upward
			}
			if err == nil && got.Dir != strings.TrimSpace(want) {
				t.Errorf("%s: %+v; Git uses %s", strings.TrimPrefix(dir, base), got, want)
			}
		}
	}
	if used < 40 {
		t.Errorf("Git used only %d repositories: the test sees nothing", used)
	}
}

func TestOnlyTheWorkspacesOwnRepositoryAndWhatItNamesIsNotForeign(t *testing.T) {
	ws, other := workspace(t), workspace(t)
	plant(t, ws+"/src/", "")
	git(t, ws, "worktree", "add", "-q", "tree")
	git(t, ws, "submodule", "--quiet", "add", other, "libs/sub")
	bare(t, ws+"/docs/api", "")
	bare(t, ws+"/nested/.git", "")
	bare(t, ws+"/.git/evil", "")
	plant(t, ws+"/pretends/.git", "gitdir: ../.git/modules/libs/sub\n")
	plant(t, ws+"/pretends2/.git", "gitdir: ../.git/worktrees/tree\n")
	plant(t, ws+"/pretends3/.git", "gitdir: ../.git/evil\n")
	owner := Owner{Roots: []string{ws}}
	for dir, own := range map[string]bool{"": true, "src": true, ".git": true, "tree": true, "libs/sub": true, "none/yet": true,
		"docs/api": false, "docs/api/refs": false, "nested": false, ".git/evil": false, "pretends": false, "pretends2": false, "pretends3": false, ".git/modules/libs/sub": false} {
		found, err := Discover(filepath.Join(ws, dir), nil)
		if err != nil {
			t.Fatal(err)
		}
		if why := owner.Foreign(found); (why == "") != own || why != "" && !strings.Contains(why, found.Dir) {
			t.Errorf("%q: %+v: %q", dir, found, why)
		}
	}
	// A worktree is a workspace too, and a submodule.
	for _, dir := range []string{ws + "/tree", ws + "/libs/sub"} {
		found, _ := Discover(dir, nil)
		if why := (Owner{Roots: []string{dir}}).Foreign(found); why != "" {
			t.Errorf("%s: %s", dir, why)
		}
	}
	if why := owner.Foreign(Found{}); why != "" {
		t.Errorf("no repository: %s", why)
	}
	plant(t, ws+"/.git/worktrees/tree/config.worktree", "[core]\n\tfsmonitor = ./x\n")
	plant(t, ws+"/.git/commondir", "../docs/api\n")
	for _, dir := range []string{"", "tree"} {
		found, _ := Discover(filepath.Join(ws, dir), nil)
		if owner.Foreign(found) == "" {
			t.Errorf("%q was led astray and counts as own", dir)
		}
	}
}
