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

func TestAFolderIsNotAPartOfARepositoryThatDoesNotKnowIt(t *testing.T) {
	base := resolve(t.TempDir())
	at := func(path string) string { return filepath.Join(base, path) }
	plant(t, base, "repo/", "super/", "evil/", "linked2/", "moved/")
	git(t, at("repo"), "init", "-q", "-b", "main")
	git(t, at("repo"), "commit", "-q", "--allow-empty", "-m", "x")
	git(t, at("repo"), "worktree", "add", "-q", "-b", "topic", at("linked"))
	git(t, base, "init", "-q", "--separate-git-dir="+at("apart"), at("separate"))
	git(t, at("super"), "init", "-q")
	git(t, at("super"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", at("repo"), "sub")
	for dir, want := range map[string]string{"linked": "repo/.git", "separate": "apart", "super/sub": "super/.git/modules/sub"} {
		if root, common := Root(at(dir), ""); root != at(dir) || common != at(want) {
			t.Errorf("Root(%s) = %s, %s; want %s", dir, root, common, want)
		}
	}
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, make := range map[string]func(){
		"a repository":        func() { write("evil/.git", "gitdir: "+at("repo/.git")+"\n") },
		"a relative path":     func() { write("evil/.git", "gitdir: ../repo/.git\n") },
		"another's worktree":  func() { write("evil/.git", "gitdir: "+at("repo/.git/worktrees/linked")+"\n") },
		"another's submodule": func() { write("evil/.git", "gitdir: "+at("super/.git/modules/sub")+"\n") },
		"a link":              func() { _ = os.Symlink(at("repo/.git"), at("evil/.git")) },
		"a worktree of its own": func() {
			write("evil/.git", "gitdir: git\n")
			write("evil/git/HEAD", "ref: refs/heads/main\n")
			write("evil/git/commondir", at("repo/.git")+"\n")
			write("evil/git/gitdir", "../.git\n")
		},
		"a folder that names it": func() {
			write("evil/.git/HEAD", "ref: refs/heads/main\n")
			write("evil/.git/commondir", at("repo/.git")+"\n")
			write("evil/.git/gitdir", at("evil/.git")+"\n")
		},
	} {
		if err := os.RemoveAll(at("evil")); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(at("evil"), 0o755); err != nil {
			t.Fatal(err)
		}
		make()
		if root, common := Root(at("evil"), ""); root != at("evil") || common != at("evil/.git") {
			t.Errorf("%s: Root = %s, %s", name, root, common)
		}
	}
}
