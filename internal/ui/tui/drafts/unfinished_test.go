package drafts

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/platform/disk"
)

// crash leaves a mark as a killed process would: its lock is gone, its file is there.
func crash(t *testing.T, m *Mark) {
	t.Helper()
	if err := m.lock.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func begin(t *testing.T, dir, workDir string) (*Mark, *State) {
	t.Helper()
	m, left, err := Begin(disk.OS(), dir, workDir, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return m, left
}

func TestWhatACrashedUILeftIsFoundOnceInItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ui")
	running, left := begin(t, dir, "/work")
	if left != nil {
		t.Fatalf("a fresh folder holds %+v", left)
	}
	killed, _ := begin(t, dir, "/work")
	for m, s := range map[*Mark]State{running: {WorkDir: "/work", SessionID: "ses_a"}, killed: {WorkDir: "/work", SessionID: "ses_b", Draft: "half a sen"}} {
		if err := m.Set(s); err != nil {
			t.Fatal(err)
		}
	}
	crash(t, killed)
	if _, left = begin(t, dir, "/elsewhere"); left != nil {
		t.Errorf("another project takes %+v", left)
	}
	again, left := begin(t, dir, "/work")
	if left == nil || left.SessionID != "ses_b" || left.Draft != "half a sen" {
		t.Fatalf("found %+v", left)
	}
	if _, left = begin(t, dir, "/work"); left != nil {
		t.Errorf("found twice: %+v", left)
	}
	again.End()
	running.End()
	if _, left = begin(t, dir, "/work"); left != nil {
		t.Errorf("what was left in order is taken for a crash: %+v", left)
	}
}

func TestMarksOfCrashesAreBoundedAndClosedToOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ui")
	for i := range maxLeft + 10 {
		m, _ := begin(t, dir, fmt.Sprintf("/work%d", i))
		if err := m.Set(State{WorkDir: fmt.Sprintf("/work%d", i), Draft: "x"}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(m.path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v %v", info.Mode(), err)
		}
		crash(t, m)
	}
	begin(t, dir, "/last")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 2*maxLeft+2 {
		t.Errorf("%d files are kept (%v)", len(entries), err)
	}
}

func TestADraftWithAKeyInItIsOnNoDisk(t *testing.T) {
	m, _ := begin(t, filepath.Join(t.TempDir(), "ui"), "/work")
	defer m.End()
	for _, draft := range []string{"half a sentence", "use sk-ant-api03-abcdefghijklmnop for it", "/login mistral 0a1b2c3d4e5f", "/login mistral 0"} {
		if err := m.Set(State{WorkDir: "/work", SessionID: "ses_a", Draft: draft}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(m.path)
		if kept := strings.Contains(string(data), draft); err != nil || kept != (draft == "half a sentence") || !strings.Contains(string(data), "ses_a") {
			t.Errorf("behind %q the file is %s (%v)", draft, data, err)
		}
	}
}

func TestADamagedDraftIsSetAside(t *testing.T) {
	for name, text := range map[string]string{"cut": `{"workDir":"/work","draft":"half a`, "empty": "", "null": "null", "another kind": "[]"} {
		dir := filepath.Join(t.TempDir(), "tui")
		m, _ := begin(t, dir, "/work")
		if err := m.Set(State{WorkDir: "/work", Draft: "half a sentence"}); err != nil {
			t.Fatal(err)
		}
		crash(t, m)
		if err := os.WriteFile(m.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, left := begin(t, dir, "/work"); left != nil {
			t.Errorf("%s: found %+v", name, left)
		}
		kept, _ := filepath.Glob(m.path + disk.AsideMark + "*")
		if len(kept) != 1 {
			t.Errorf("%s: kept as %q", name, kept)
			continue
		}
		if data, err := os.ReadFile(kept[0]); err != nil || string(data) != text {
			t.Errorf("%s: what is kept has %q", name, data)
		}
		if _, err := os.Stat(m.path + ".lock"); err == nil {
			t.Errorf("%s: its lock is left", name)
		}
		if _, left := begin(t, dir, "/work"); left != nil {
			t.Errorf("%s: found later: %+v", name, left)
		}
	}
}
