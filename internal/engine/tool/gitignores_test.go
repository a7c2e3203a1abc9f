package tool

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestFoldersAreIgnoredAsGitIgnoresThem(t *testing.T) {
	b := newBench(t)
	b.ok("Bash", in{"command": "git init -q . && mkdir -p node_modules/evil/deep a/build/x a/keep/build vendor/lib/target docs .hidden own/sub && git init -q vendor/lib"})
	b.write(".gitignore", "node_modules/\nbuild\n!keep/build\ntarget\n")
	b.write("a/.gitignore", "!build\n")
	b.write(".git/info/exclude", "docs\n")
	b.write(".ignore", "own\n") // not Git's
	for _, dir := range []string{"", "a", "a/build", "a/build/x", "a/keep/build", "node_modules", "node_modules/evil/deep", "vendor/lib", "docs", ".hidden", "own/sub", "vendor/lib/target"} {
		full := filepath.Join(b.root, dir)
		cmd := exec.Command("git", "check-ignore", "-q", full)
		if cmd.Dir = b.root; dir == "vendor/lib/target" {
			cmd.Dir = filepath.Join(b.root, "vendor/lib") // a repository of its own, with rules of its own
		}
		want := dir != "" && cmd.Run() == nil
		if got := gitIgnores(b.env.Files, full); got != want {
			t.Errorf("%q: %v, Git says %v", dir, got, want)
		}
	}
	if !gitIgnores(b.env.Files, filepath.Join(b.root, ".git/hooks")) {
		t.Error("a .git folder counts as part of the workspace")
	}
}
