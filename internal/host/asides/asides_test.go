package asides

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/platform/disk"
)

// setAside damages a file and sets it aside.
func setAside(t *testing.T, dir, name string) string {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	aside, err := disk.SetAside(disk.OS(), full, time.UnixMilli(1_790_000_000_000))
	if err != nil {
		t.Fatal(err)
	}
	return aside
}

func TestAFileThatWasSetAsideIsToldOnce(t *testing.T) {
	dir := t.TempDir()
	if got := Untold(disk.OS(), dir); got != nil {
		t.Errorf("of a folder without any: %q", got)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("a record was written for nothing: %v", left)
	}
	first := setAside(t, dir, "automation/state.json")
	if got := Untold(disk.OS(), dir); len(got) != 1 || !strings.Contains(got[0], first) || !strings.Contains(got[0], "schedules") {
		t.Errorf("the first time: %q", got)
	}
	if got := Untold(disk.OS(), dir); got != nil {
		t.Errorf("the second time: %q", got)
	}
	second, third := setAside(t, dir, "projects.json"), setAside(t, dir, "other.json")
	if got := Untold(disk.OS(), dir); len(got) != 2 || !strings.Contains(strings.Join(got, "\n"), second) || !strings.Contains(strings.Join(got, "\n"), third) {
		t.Errorf("two more: %q", got)
	}
	if got := Of(disk.OS(), dir, "projects.json"); len(got) != 1 {
		t.Errorf("of projects.json: %q", got)
	}
	if got := Untold(disk.OS(), dir); got != nil {
		t.Errorf("again: %q", got)
	}
}

func TestASecondFileAtTheSameTimeIsKeptToo(t *testing.T) {
	dir := t.TempDir()
	a, b := setAside(t, dir, "x.json"), setAside(t, dir, "x.json")
	if a == b || len(Find(disk.OS(), dir)) != 2 {
		t.Errorf("kept as %s and %s: %v", a, b, Find(disk.OS(), dir))
	}
}
