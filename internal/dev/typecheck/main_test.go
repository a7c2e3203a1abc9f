package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyTheSystemThatLacksANameSaysSo(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":         "module one\n\ngo 1.25\n",
		"a.go":           "package one\n\nimport \"errors\"\n\nfunc Err() error { return errors.New(host()) }\n",
		"host_linux.go":  "package one\n\nfunc host() string { return \"linux\" }\n",
		"host_darwin.go": "package one\n\nfunc host() int { return 1 }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := check(dir, "linux/amd64"); err != nil {
		t.Errorf("on Linux: %v", err)
	}
	if err := check(dir, "darwin/arm64"); err == nil || !strings.Contains(err.Error(), "a.go:5") {
		t.Errorf("on macOS: %v", err)
	}
	if err := check(dir, "windows/amd64"); err == nil || !strings.Contains(err.Error(), "undefined: host") {
		t.Errorf("on Windows: %v", err)
	}
	if err := check(dir, "darwin"); err == nil || !strings.Contains(err.Error(), "darwin/arm64") {
		t.Errorf("half a system: %v", err)
	}
}
