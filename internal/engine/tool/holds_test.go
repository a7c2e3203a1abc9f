package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileBelowAFolderIsFoundForRules(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/b/.env", ".git/secret", "c.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{".env": dir + "/a/b/.env", "secret": "", "c.txt": dir + "/c.txt", "none": ""} {
		got, all := holdsCovered(dir, func(abs string) bool { return strings.HasSuffix(abs, "/"+name) })
		if got != want || !all {
			t.Errorf("%s: %q, all %v, want %q", name, got, all, want)
		}
	}
	if got, all := holdsCovered(dir+"/none", func(string) bool { return true }); got != "" || !all {
		t.Errorf("a folder that is not there: %q, %v", got, all)
	}
}

func TestMoreFilesThanAreLookedAtAreNotCalledAll(t *testing.T) {
	dir := t.TempDir()
	for i := range 60 {
		sub := filepath.Join(dir, strings.Repeat("d", i+1))
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, "f"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, all := holdsCoveredOf(dir, 100, func(string) bool { return false }); all {
		t.Error("121 files are said to be all of 100")
	}
	if _, all := holdsCoveredOf(dir, 121, func(string) bool { return false }); !all {
		t.Error("121 files are said to be more than 121")
	}
}
