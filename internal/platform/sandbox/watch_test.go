package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"scorel/internal/platform/repository"
)

func TestChangedProtectedFilesAreNamed(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".git/HEAD", ".git/config", ".git/hooks/a", ".vscode/deep/er/tasks.json", ".envrc", "ordinary"} {
		put(name, "old")
	}
	before := LookAtProtected([]string{root}, nil)
	if changed := before.Changed(LookAtProtected([]string{root}, nil)); len(changed) > 0 {
		t.Errorf("nothing happened, and these changed: %q", changed)
	}
	put("ordinary", "new")
	put(".git/HEAD", "new")
	put(".git/config", "new") // of the same length
	put(".git/commondir", "elsewhere")
	put(".vscode/deep/er/tasks.json", "newer")
	put(".mcp.json", "new")
	if err := os.Chmod(filepath.Join(root, ".git/hooks/a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, ".envrc")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/elsewhere", filepath.Join(root, ".claude")); err != nil {
		t.Fatal(err)
	}
	want := []string{".claude", ".envrc", ".git/commondir", ".git/config", ".git/hooks/a", ".mcp.json", ".vscode/deep/er/tasks.json"}
	for i := range want {
		want[i] = filepath.Join(root, want[i])
	}
	if got := before.Changed(LookAtProtected([]string{root}, nil)); !slices.Equal(got, want) {
		t.Errorf("changed: %q\nwant %q", got, want)
	}
}

func TestALookAtProtectedFilesIsBoundedAndStillSeesChanges(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, ".agents")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range maxHashed + 50 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d", i)), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := watcher{state: Protected{}, left: maxWatched}
	w.look(dir, 0)
	if w.hashed != maxHashed || len(w.state) != maxHashed+50 {
		t.Errorf("%d hashed of %d", w.hashed, len(w.state))
	}
	before := LookAtProtected([]string{root}, nil)
	last := filepath.Join(dir, fmt.Sprintf("%04d", maxHashed+49))
	if err := os.WriteFile(last, []byte("longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := before.Changed(LookAtProtected([]string{root}, nil)); !slices.Equal(got, []string{last}) {
		t.Errorf("%q", got)
	}
	if got := LookAtProtected([]string{root}, []string{dir}); len(got) != 0 {
		t.Errorf("what is closed was looked at: %d", len(got))
	}
}

func TestAFileThatNamesARepositoryOpensOnlyItsOwn(t *testing.T) {
	base := t.TempDir()
	root, victim := filepath.Join(base, "ws"), filepath.Join(base, "victim")
	for _, dir := range []string{root, victim + "/objects", victim + "/worktrees/x"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{victim + "/HEAD", victim + "/worktrees/x/HEAD", victim + "/config"} {
		if err := os.WriteFile(name, []byte("ref: x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, to := range []string{victim, victim + "/worktrees/x", base, "/"} {
		if err := os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: "+to+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if g := protect(root); len(g.writable) > 0 {
			t.Errorf("a file that names %s opens %q", to, g.writable)
		}
	}
	// With the answer from the other side it is the worktree's own.
	if err := os.WriteFile(victim+"/worktrees/x/gitdir", []byte(root+"/.git\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: ../victim/worktrees/x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if g := protect(root); !slices.Equal(g.writable, []string{victim}) {
		t.Errorf("a worktree's repository: %q", g.writable)
	}
}

func TestAPlaceThatIsFilledUpHidesNoOther(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{".agents", ".git/hooks"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2_100 {
		if err := os.WriteFile(filepath.Join(root, ".agents", fmt.Sprintf("%04d", i)), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	hook := filepath.Join(root, ".git/hooks/pre-commit")
	if err := os.WriteFile(hook, []byte("old"), 0o755); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(hook)
	if err != nil {
		t.Fatal(err)
	}
	before := LookAtProtected([]string{root}, nil)
	// It keeps its size, mode and time.
	if err := os.WriteFile(hook, []byte("new"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(hook, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if changed := before.Changed(LookAtProtected([]string{root}, nil)); !slices.Equal(changed, []string{hook}) {
		t.Errorf("changed: %q", changed)
	}
}

func TestAPipeInPlaceOfAFileHoldsNobodyUp(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{".git", ".envrc"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o644); err != nil {
			t.Fatal(err)
		}
		if data, err := repository.ReadSmall(filepath.Join(root, name), 10); err == nil {
			t.Errorf("read %q", data)
		}
		if _, err := hashFile(filepath.Join(root, name), 0); err == nil {
			t.Error("it was hashed")
		}
	}
	if state := LookAtProtected([]string{root}, nil); len(state) != 2 {
		t.Errorf("%q", state)
	}
}
