package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestRootAndBranchOfRepositoriesAndPlainFolders(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, linked, plain := filepath.Join(base, "repo"), filepath.Join(base, "linked"), filepath.Join(base, "plain")
	for _, dir := range []string{filepath.Join(repo, "a", "b"), plain, filepath.Join(base, "broken", ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git(t, repo, "init", "-q", "-b", "main")
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
	git(t, repo, "worktree", "add", "-q", "-b", "topic/one", linked)
	if err := os.Symlink(filepath.Join(repo, "a"), filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	common := filepath.Join(repo, ".git")
	for _, c := range []struct{ dir, root, common, branch string }{
		{repo, repo, common, "main"},
		{filepath.Join(repo, "a", "b"), repo, common, "main"},
		{filepath.Join(base, "link"), repo, common, "main"},
		{linked, linked, common, "topic/one"},
		{plain, plain, "", ""},
		{filepath.Join(base, "broken"), filepath.Join(base, "broken"), "", ""},
		{filepath.Join(base, "none"), filepath.Join(base, "none"), "", ""},
	} {
		root, commonDir := Root(c.dir, "")
		if root != c.root || commonDir != c.common {
			t.Errorf("Root(%s) = %s, %s; want %s, %s", c.dir, root, commonDir, c.root, c.common)
		}
		if b := Branch(c.dir, ""); b != c.branch {
			t.Errorf("Branch(%s) = %q, want %q", c.dir, b, c.branch)
		}
	}
	git(t, repo, "checkout", "-q", "--detach")
	if b := Branch(repo, ""); len(b) != 12 {
		t.Errorf("a detached head gives %q", b)
	}
}

func TestARepositoryOfTheHomeIsNotTheWorkspaceOfAProjectInIt(t *testing.T) {
	home := t.TempDir()
	plant(t, home, ".git/HEAD", "notes/today/", "code/.git/HEAD", "code/sub/")
	link := filepath.Join(t.TempDir(), "home")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	real := resolve(home)
	for _, h := range []string{home, link, filepath.Join(home, "code", "user")} { // the last: a home in a repository
		for dir, want := range map[string]string{"notes": "notes", "notes/today": "notes/today", "code/sub": "code", ".": "."} {
			if h != home && h != link && dir == "code/sub" {
				want = "code/sub"
			}
			root, common := Root(filepath.Join(home, dir), h)
			if root != filepath.Join(real, want) || (common == "") != (dir == want && dir != ".") {
				t.Errorf("home %s: Root(%s) = %s, %q; want %s", h, dir, root, common, want)
			}
		}
	}
	if b := Branch(filepath.Join(home, "notes"), home); b != "" {
		t.Errorf("the branch of the home counts below it: %q", b)
	}
}
