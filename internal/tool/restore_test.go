package tool

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func old(content string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
}

func TestRestoreTakesBackOnlyWhatIsAsTheAgentLeftIt(t *testing.T) {
	b := newBench(t)
	left := sum([]byte("left"))
	path := func(name string) string { return filepath.Join(b.root, name) }
	for _, name := range []string{"edited", "made", "changed", "made and changed", "big", "no blob"} {
		b.write(name, "left")
	}
	b.write("changed", "by the user")
	b.write("made and changed", "by the user")
	outside := b.write(filepath.Join(b.out, "outside"), "left")
	symlink(t, outside, path("link"))
	if err := os.Mkdir(path("folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	secret := b.write(filepath.Join(b.reach, "key"), "left")
	items := []RestoreItem{
		{Path: path("edited"), Existed: true, Restorable: true, Mode: 0o600, Content: old("before"), LeftSHA256: left},
		{Path: path("made"), Restorable: true, LeftSHA256: left},
		{Path: path("made, then removed"), Restorable: true, LeftSHA256: left},
		{Path: path("changed"), Existed: true, Restorable: true, Content: old("before"), LeftSHA256: left},
		{Path: path("made and changed"), Restorable: true, LeftSHA256: left},
		{Path: path("removed"), Existed: true, Restorable: true, Content: old("before"), LeftSHA256: left},
		{Path: path("big"), Existed: true, LeftSHA256: left},
		{Path: path("link"), Existed: true, Restorable: true, Content: old("before"), LeftSHA256: left},
		{Path: path("folder"), Existed: true, Restorable: true, Content: old("before"), LeftSHA256: left},
		{Path: secret, Existed: true, Restorable: true, Content: old("before"), LeftSHA256: left},
		{Path: path("no blob"), Existed: true, Restorable: true, Content: func() (io.ReadCloser, error) { return nil, errors.New("no such blob") }, LeftSHA256: left},
	}
	restored, skipped := Restore(t.Context(), b.env.Files, items)
	var done []string
	for _, r := range restored {
		done = append(done, filepath.Base(r.Path))
	}
	if got := strings.Join(done, ", "); got != "edited, made, made, then removed" {
		t.Errorf("restored are %s", got)
	}
	why := make(map[string]string)
	for _, s := range skipped {
		why[filepath.Base(s.Path)] = s.Why
	}
	for name, want := range map[string]string{"changed": "changed since", "made and changed": "changed since", "removed": "deleted since",
		"big": "no copy", "link": "symbolic link", "folder": "folder", "key": "closed to tools", "no blob": "no such blob"} {
		if !strings.Contains(why[name], want) {
			t.Errorf("%s: %q lacks %q", name, why[name], want)
		}
	}
	if info, err := os.Stat(path("edited")); b.content("edited") != "before" || err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("edited holds %q, %v", b.content("edited"), info.Mode())
	}
	if _, err := os.Stat(path("made")); err == nil {
		t.Error("made is still there")
	}
	for name, want := range map[string]string{path("changed"): "by the user", path("made and changed"): "by the user", outside: "left", secret: "left"} {
		if got := b.content(name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

func TestRestoreStopsWithItsContext(t *testing.T) {
	b := newBench(t)
	path := b.write("f", "left")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	restored, skipped := Restore(ctx, b.env.Files, []RestoreItem{{Path: path, Existed: true, Restorable: true, Content: old("before"), LeftSHA256: sum([]byte("left"))}})
	if len(restored) != 0 || len(skipped) != 1 || b.content("f") != "left" {
		t.Errorf("%v %v", restored, skipped)
	}
}
