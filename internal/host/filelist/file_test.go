package filelist_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestAFileOfAProjectIsShownAsItIsNow(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	w.File("docs/a.md", "# A\n")
	w.File("picture.png", "\x89PNG\x00")
	w.File("latin.txt", "caf\xe9\n")
	w.File("empty", "")
	w.File("long.txt", strings.Repeat("a line of text\n", 20_000))
	w.File("one.txt", strings.Repeat("é", 200_000))
	c := w.Connect(false)
	id := w.Registered(c).ProjectID
	get := func(path string) *protocol.FileText {
		t.Helper()
		return hosttest.Call[*protocol.FileText](t, c, "", &protocol.GetFile{ProjectID: id, Path: path})
	}
	if got, want := *get("docs/../docs/a.md"), (protocol.FileText{Path: "docs/a.md", Bytes: 4, Text: "# A\n"}); got != want {
		t.Errorf("got %+v, not %+v", got, want)
	}
	if got, want := *get("empty"), (protocol.FileText{Path: "empty"}); got != want {
		t.Errorf("got %+v, not %+v", got, want)
	}
	for _, name := range []string{"picture.png", "latin.txt"} {
		if got := get(name); !got.Binary || got.Text != "" || got.Bytes == 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	long := get("long.txt")
	if !long.Cut || !strings.HasSuffix(long.Text, "text\n") || len(long.Text) > 256<<10 || len(long.Text) < 250<<10 || long.Bytes != 300_000 {
		t.Errorf("%d bytes of %d, cut: %v", len(long.Text), long.Bytes, long.Cut)
	}
	if one := get("one.txt"); !one.Cut || one.Binary || len(one.Text) != 256<<10 {
		t.Errorf("a long line: %d bytes, %v %v", len(one.Text), one.Cut, one.Binary)
	}
}

func TestWhatToolsMayNotReadIsNotShown(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	w.File("a.txt", "a")
	w.File(".git/config", "[core]\n")
	w.File("folder/b.txt", "b")
	for name, to := range map[string]string{"passwd": "/etc/passwd", "up": "..", "kept": filepath.Join(w.Home, ".scorel", "config.toml"), "config": ".git/config"} {
		if err := os.Symlink(to, filepath.Join(w.Project, name)); err != nil {
			t.Fatal(err)
		}
	}
	c := w.Connect(false)
	id := w.Registered(c).ProjectID
	for path, want := range map[string]string{
		"/etc/passwd":    "leads out",
		"../a.txt":       "leads out",
		"a/../../a.txt":  "leads out",
		"passwd":         "outside",
		"up/a.txt":       "outside",
		"kept":           "",
		".git/config":    "protected",
		"config":         "protected",
		"folder":         "folder",
		"missing.txt":    "no file",
		"a.txt/b":        "",
		"folder/\x00bad": "",
	} {
		refused := hosttest.Refused(t, c, "", &protocol.GetFile{ProjectID: id, Path: path}, protocol.CodeInvalidRequest)
		if !strings.Contains(refused.Message, want) {
			t.Errorf("%q: %s", path, refused.Message)
		}
	}
	hosttest.Refused(t, c, "", &protocol.GetFile{ProjectID: "prj_0000000000000000", Path: "a.txt"}, protocol.CodeProjectNotFound)

	for _, name := range []string{".ssh/id_rsa", ".scorel/credentials.json"} {
		w.Write(filepath.Join(w.Home, name), "secret")
	}
	home := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: w.Home})
	for _, name := range []string{".ssh/id_rsa", ".scorel/credentials.json"} {
		hosttest.Refused(t, c, "", &protocol.GetFile{ProjectID: home.ProjectID, Path: name}, protocol.CodeInvalidRequest)
	}
}
