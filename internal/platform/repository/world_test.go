package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// folder returns a new folder without links in its path.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// plant writes a file with its folders; a name that ends in / is a folder.
func plant(t *testing.T, name, text string) {
	t.Helper()
	if strings.HasSuffix(name, "/") {
		if err := os.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// bare plants what Git takes for a repository.
func bare(t *testing.T, dir, config string) {
	t.Helper()
	plant(t, dir+"/HEAD", "ref: refs/heads/main\n")
	plant(t, dir+"/config", "[core]\n\trepositoryformatversion = 0\n"+config)
	plant(t, dir+"/objects/", "")
	plant(t, dir+"/refs/", "")
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, nil, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

func tryGit(dir string, env []string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// workspace makes a repository with one commit.
func workspace(t *testing.T) string {
	t.Helper()
	dir := folder(t)
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
	return dir
}
