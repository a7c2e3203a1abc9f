package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAFolderAboveWhatIsHeldIsNotMovedAway: what a command moves away, the next
// one would not find closed, nor protected.
func TestAFolderAboveWhatIsHeldIsNotMovedAway(t *testing.T) {
	needConfinement(t)
	w := newWorld(t, t.TempDir(), layout{above: true})
	write(t, filepath.Join(w.home, ".codex", "auth.json"), sentinel)
	inner := filepath.Join(w.ws, "a", "b")
	write(t, filepath.Join(inner, ".envrc"), "old\n")
	w.profile.Roots = append(w.profile.Roots, inner)
	for _, name := range []string{"lib/part", "lib/part/modules/deep/er"} {
		write(t, filepath.Join(w.ws, ".git/modules", name, "HEAD"), "ref: refs/heads/main\n")
		write(t, filepath.Join(w.ws, ".git/modules", name, "config"), "old\n")
	}
	out, _ := w.call(t, &w.profile, `for d in .config .codex .config/gh a a/b .git .git/modules .git/modules/lib .git/modules/lib/part .git/modules/lib/part/modules; do
		mv $d moved 2>/dev/null && echo moved $d; done
		for f in lib/part lib/part/modules/deep/er; do echo x > .git/modules/$f/config && echo wrote $f; done 2>/dev/null
		mkdir -p .config/other && echo x > .config/other/x && cat .config/other/x`)
	if out != "x\n" {
		t.Errorf("%s", out)
	}
	if out, _ := w.call(t, &w.profile, `grep -rs "$SECRET" .; true`); out != "" {
		t.Errorf("the next command found: %s", out)
	}
}

// TestWhatLeadsGitInOtherWorktreesIsProtected: commondir of a worktree elsewhere
// names the configuration that Git obeys there.
func TestWhatLeadsGitInOtherWorktreesIsProtected(t *testing.T) {
	needConfinement(t)
	w := plainWorld(t, t.TempDir(), false)
	newRepository(t, w, w.ws)
	git(t, w, w.ws, "worktree", "add", "-q", filepath.Join(w.base, "other"))
	before := LookAtProtected(w.profile.Roots, nil)
	out, _ := w.call(t, &w.profile, `for f in commondir gitdir config.worktree; do echo x > .git/worktrees/other/$f && echo could $f; done 2>/dev/null
		mv .git/worktrees .git/w 2>/dev/null && echo could move; mv .git/worktrees/other .git/worktrees/o 2>/dev/null && echo could move it
		echo y > file && git commit -qam second && git worktree list | wc -l`)
	if out != "could config.worktree\n2\n" { // which does not exist yet, and is named
		t.Errorf("%s", out)
	}
	changed := before.Changed(LookAtProtected(w.profile.Roots, nil))
	if len(changed) != 1 || !strings.HasSuffix(changed[0], "worktrees/other/config.worktree") {
		t.Errorf("%q", changed)
	}
	if _, err := os.Stat(filepath.Join(w.base, "other", "file")); err != nil {
		t.Error(err)
	}
}
