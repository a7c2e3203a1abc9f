package disk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/sandbox/sandboxtest"
)

func TestAPersonalFileIsWrittenWhereItsLinksLead(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(at("dotfiles"), 0o700))
	must(os.WriteFile(at("dotfiles/there"), []byte("old"), 0o600))
	must(os.WriteFile(at("plain"), []byte("old"), 0o600))
	for link, to := range map[string]string{"link": "dotfiles/there", "chain": "link", "dangling": "dotfiles/new", "folder": "dotfiles", "nowhere": "no/such/folder", "loop": "loop"} {
		must(os.Symlink(to, at(link)))
	}
	for name, want := range map[string]string{"plain": "plain", "missing": "missing", "link": "dotfiles/there", "chain": "dotfiles/there", "dangling": "dotfiles/new"} {
		if got, err := disk.Personal(at(name)); err != nil || got != at(want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	for name, want := range map[string]string{"folder": "no file of yours", "nowhere": "leads nowhere", "loop": "leads nowhere"} {
		if got, err := disk.Personal(at(name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for _, name := range []string{"link", "dangling", "plain"} {
		must(disk.UpdatePersonal(disk.OS(), at(name), 100, func([]byte) ([]byte, error) { return []byte("new"), nil }))
		target, _ := disk.Personal(at(name))
		if data, err := os.ReadFile(target); err != nil || string(data) != "new" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if _, err := os.Stat(target + ".lock"); name != "plain" && err == nil {
			t.Errorf("%s: a lock is left beside the target", name)
		}
	}
	if to, err := os.Readlink(at("link")); err != nil || to != "dotfiles/there" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

func TestAPersonalFileOfAnotherUserIsNotWritten(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		link := filepath.Join(dir, "link")
		if err := os.Symlink("/etc/passwd", link); err != nil {
			t.Fatal(err)
		}
		if got, err := disk.Personal(link); err == nil || !strings.Contains(err.Error(), "no file of yours") {
			t.Errorf("%s, %v", got, err)
		}
	})
}
