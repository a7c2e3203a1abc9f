package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/engine/tool/files"
	"scorel/protocol"
)

func old(content string) func(context.Context, int64) ([]byte, error) {
	return func(context.Context, int64) ([]byte, error) { return []byte(content), nil }
}

// before is a file that existed with the content "before", and that the agent left with
// the content "left".
func before(path string) files.RestoreItem {
	return files.RestoreItem{Path: path, Existed: true, Restorable: true, Mode: 0o644, SHA256: files.Sum([]byte("before")), Content: old("before"),
		Left: &files.LeftFile{SHA256: files.Sum([]byte("left")), Mode: 0o644}}
}

// made is a file that the agent made with the content "left".
func made(path string) files.RestoreItem {
	return files.RestoreItem{Path: path, Restorable: true, Left: &files.LeftFile{SHA256: files.Sum([]byte("left")), Mode: 0o644}}
}

func with(item files.RestoreItem, change func(*files.RestoreItem)) files.RestoreItem {
	change(&item)
	return item
}

func bases(paths []string) string {
	var out []string
	for _, p := range paths {
		out = append(out, filepath.Base(p))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestRestoreTakesBackOnlyWhatIsAsTheAgentLeftIt(t *testing.T) {
	b := newBench(t)
	path := func(name string) string { return filepath.Join(b.root, name) }
	for _, name := range []string{"edited", "made", "changed", "made and changed", "big", "no blob", "locked by hand", "made executable", "between", "unknown", "unknown mode"} {
		if err := os.Chmod(b.write(name, "left"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.write("changed", "by the user")
	b.write("made and changed", "by the user")
	if err := os.Chmod(b.write("as before already", "before"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"locked by hand": 0o600, "made executable": 0o755} {
		if err := os.Chmod(path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	outside := b.write(filepath.Join(b.out, "outside"), "left")
	symlink(t, outside, path("link"))
	if err := os.Mkdir(path("folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	secret := b.write(filepath.Join(b.reach, "key"), "left")
	got := files.Restore(t.Context(), b.env.Files, []files.RestoreItem{
		before(path("edited")), made(path("made")), made(path("made, then removed")), before(path("changed")), made(path("made and changed")),
		before(path("removed")), before(path("link")), before(path("folder")), before(secret), before(path("as before already")),
		before(path("locked by hand")), made(path("made executable")),
		with(before(path("big")), func(i *files.RestoreItem) { i.Restorable = false }),
		with(before(path("between")), func(i *files.RestoreItem) { i.Changed = "somebody was faster" }),
		with(before(path("unknown")), func(i *files.RestoreItem) { i.Left = nil }),
		with(before(path("unknown mode")), func(i *files.RestoreItem) { i.Left.Mode = 0 }),
		with(before(path("no blob")), func(i *files.RestoreItem) {
			i.Content = func(context.Context, int64) ([]byte, error) { return nil, errors.New("it is damaged") }
		}),
	})
	if s := bases(got.Restored); s != "edited, unknown mode" {
		t.Errorf("restored are %s", s)
	}
	if s := bases(got.Removed); s != "made" {
		t.Errorf("removed are %s", s)
	}
	why, offered := map[string]string{}, []string{}
	for _, s := range got.Skipped {
		why[filepath.Base(s.Path)] = s.Why
		if s.Offered {
			offered = append(offered, s.Path)
		}
	}
	wants := map[string]string{"changed": "changed since", "made and changed": "changed since", "removed": "deleted since",
		"big": "no copy", "link": "symbolic link", "folder": "folder", "key": "closed to tools", "no blob": "nothing was written: it is damaged",
		"locked by hand": "its mode was changed since, from 0644 to 0600", "made executable": "its mode was changed since, from 0644 to 0755",
		"between": "somebody was faster", "unknown": "not known how the agent left it"}
	for name, want := range wants {
		if !strings.Contains(why[name], want) {
			t.Errorf("%s: %q lacks %q", name, why[name], want)
		}
	}
	if len(why) != len(wants) {
		t.Errorf("left alone are %v", why)
	}
	if s := bases(offered); s != "between, changed, locked by hand, made and changed, made executable, removed, unknown" {
		t.Errorf("offered are %s", s)
	}
	if b.content("edited") != "before" {
		t.Errorf("edited holds %q", b.content("edited"))
	}
	if _, err := os.Stat(path("made")); err == nil {
		t.Error("made is still there")
	}
	for name, want := range map[string]string{path("changed"): "by the user", path("made and changed"): "by the user", outside: "left", secret: "left",
		path("locked by hand"): "left", path("no blob"): "left", path("between"): "left"} {
		if got := b.content(name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

func TestRestoreTakesBackWhatAPersonNamesThoughItWasChanged(t *testing.T) {
	b := newBench(t)
	named := func(item files.RestoreItem) files.RestoreItem {
		return with(item, func(i *files.RestoreItem) { i.Named, i.Changed = true, "somebody was faster" })
	}
	path := func(name string) string { return filepath.Join(b.root, name) }
	b.write("changed", "by the user")
	b.write("made", "by the user")
	if err := os.Chmod(b.write("mode", "left"), 0o755); err != nil {
		t.Fatal(err)
	}
	symlink(t, b.write(filepath.Join(b.out, "outside"), "left"), path("link"))
	got := files.Restore(t.Context(), b.env.Files, []files.RestoreItem{
		named(before(path("changed"))), named(made(path("made"))), named(before(path("mode"))), named(before(path("deleted/file"))), named(before(path("link"))),
		with(named(before(path("damaged"))), func(i *files.RestoreItem) {
			i.Content = func(context.Context, int64) ([]byte, error) { return nil, errors.New("it is damaged") }
		}),
	})
	if bases(got.Restored) != "changed, file, mode" || bases(got.Removed) != "made" || len(got.Skipped) != 2 {
		t.Fatalf("%+v", got)
	}
	for _, name := range []string{"changed", "mode", "deleted/file"} {
		info, err := os.Stat(path(name))
		if err != nil || info.Mode().Perm() != 0o644 || b.content(name) != "before" {
			t.Errorf("%s holds %q, %v, %v", name, b.content(name), info, err)
		}
	}
	if _, err := os.Stat(path("damaged")); err == nil {
		t.Error("a file was made of a damaged content")
	}
}

func TestRestoreStopsWithItsContext(t *testing.T) {
	b := newBench(t)
	path := b.write("f", "left")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := files.Restore(ctx, b.env.Files, []files.RestoreItem{before(path)}); len(got.Restored) != 0 || len(got.Skipped) != 1 || b.content("f") != "left" {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsWrittenIsNotedWithItsMode(t *testing.T) {
	b := newBench(t)
	if err := os.Chmod(b.write("a.sh", "one"), 0o750); err != nil {
		t.Fatal(err)
	}
	b.ok("Read", in{"path": "a.sh"})
	_, r := b.run("Edit", edits("a.sh", "one", "two"))
	if d := r.Details.(protocol.ToolDetails); d.Files[0].Mode != 0o750 {
		t.Errorf("the mode is %#o", d.Files[0].Mode)
	}
	_, r = b.run("Write", in{"path": "new", "content": "x"})
	info, err := os.Stat(filepath.Join(b.root, "new"))
	if d := r.Details.(protocol.ToolDetails); err != nil || d.Files[0].Mode != uint32(info.Mode().Perm()) {
		t.Errorf("the mode is %#o, %v", d.Files[0].Mode, err)
	}
}

func TestAWriteKeepsTheModeThatAPersonGivesWhileTheQuestionWaits(t *testing.T) {
	b := newBench(t)
	path := b.write("a.sh", "one")
	b.ok("Read", in{"path": "a.sh"})
	p, err := b.prepare("Write", in{"path": "a.sh", "content": "two"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 || b.content("a.sh") != "two" {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}
