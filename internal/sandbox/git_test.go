package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGitRunsNothingThatTheRepositoryConfigures(t *testing.T) {
	dir := t.TempDir()
	s, env := New(Config{}), append(Environ(os.Environ(), nil), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	git := func(args ...string) (string, error) { return Git(t.Context(), s, env, dir, args...) }
	if _, err := git("init", "-q", "-b", "main"); err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(dir, "ran")
	script := []byte("#!/bin/sh\ntouch " + ran + "\n")
	for _, name := range []string{"hook", filepath.Join(".git", "hooks", "pre-commit")} {
		if err := os.WriteFile(filepath.Join(dir, name), script, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := git("config", "core.fsmonitor", filepath.Join(dir, "hook")); err != nil {
		t.Fatal(err)
	}
	out, err := git("status", "--porcelain")
	if err != nil || out != "?? hook\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("something of the repository ran")
	}
	if _, err := git("no-such-command"); err == nil || !strings.Contains(err.Error(), "no-such-command") {
		t.Errorf("a failure is %v", err)
	}
}

func TestGitRefusesTooMuchOutput(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, 2*maxGitOutput), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Git(t.Context(), New(Config{}), Environ(os.Environ(), nil), dir, "diff", "--no-index", "--text", "/dev/null", "big"); err == nil || !strings.Contains(err.Error(), "of output") {
		t.Errorf("it gives %v", err)
	}
}
