package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/engine/tool/files"
	"scorel/protocol"
)

func TestWriteMakesParentsAndANewFile(t *testing.T) {
	b := newBench(t)
	text, r := b.run("Write", in{"path": "a/b/c.txt", "content": "one\ntwo"})
	if r.IsError || !strings.Contains(text, "new file") || !strings.Contains(text, "2 lines") {
		t.Errorf("%s", text)
	}
	if got := b.content("a/b/c.txt"); got != "one\ntwo" {
		t.Errorf("it holds %q", got)
	}
	d := r.Details.(protocol.ToolDetails)
	if len(d.Files) != 1 || !d.Files[0].Whole || d.Files[0].SHA256 != files.Sum([]byte("one\ntwo")) || !strings.Contains(d.Diff, "+one") {
		t.Errorf("details are %+v", d)
	}
	b.ok("Write", in{"path": "a/b/c.txt", "content": "three"}) // it knows what it wrote
	names, err := os.ReadDir(filepath.Join(b.root, "a/b"))
	if err != nil || len(names) != 1 {
		t.Errorf("the folder holds %v, %v", names, err)
	}
}

func TestWriteOfAnUnreadChangedOrPartlyReadFileFails(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\ntwo\n")
	b.fails("Write", in{"path": "a.txt", "content": "x"}, "have not read it", "Read it first")
	b.ok("Read", in{"path": "a.txt", "limit": 1})
	b.fails("Write", in{"path": "a.txt", "content": "x"}, "not read all of it")
	b.ok("Read", in{"path": "a.txt"})
	b.write("a.txt", "one\nTWO\n")
	b.fails("Write", in{"path": "a.txt", "content": "x"}, "has changed since you read it")
	b.ok("Read", in{"path": "a.txt"})
	b.ok("Write", in{"path": "a.txt", "content": "x"})
	b.fails("Write", in{"path": ".", "content": "x"}, "is a folder")
}

func TestWriteFailsWhenTheFileChangesWhileTheQuestionWaits(t *testing.T) {
	for name, disturb := range map[string]func(path string) error{
		"content": func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o644) },
		"removed": os.Remove,
	} {
		for _, tool := range []string{"Write", "Edit"} {
			t.Run(tool+" "+name, func(t *testing.T) {
				b := newBench(t)
				path := b.write("a.txt", "old")
				b.ok("Read", in{"path": "a.txt"})
				input := in{"path": "a.txt", "content": "new"}
				if tool == "Edit" {
					input = edits("a.txt", "old", "new")
				}
				p, err := b.prepare(tool, input)
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				if err := disturb(path); err != nil {
					t.Fatal(err)
				}
				if _, err := p.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "while this call was waiting") {
					t.Errorf("Run gives %v", err)
				}
				if data, _ := os.ReadFile(path); string(data) == "new" {
					t.Error("it was written")
				}
			})
		}
	}
	b := newBench(t)
	p, err := b.prepare("Write", in{"path": "new.txt", "content": "mine"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	b.write("new.txt", "theirs")
	if _, err := p.Run(t.Context(), nil); err == nil {
		t.Error("a file that appeared was replaced")
	}
	if got := b.content("new.txt"); got != "theirs" {
		t.Errorf("it holds %q", got)
	}
}

func TestWriteAndEditFinishWhenTheirContextEnds(t *testing.T) {
	b := newBench(t)
	p, err := b.prepare("Write", in{"path": "a.txt", "content": "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx, nil); err != nil {
		t.Error(err)
	}
}

func TestWriteKeepsModeEndingsMarkAndOtherNames(t *testing.T) {
	b := newBench(t)
	path := b.write("a.sh", bom+"one\r\ntwo\r\n")
	if err := os.Chmod(path, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, filepath.Join(b.root, "other")); err != nil {
		t.Fatal(err)
	}
	b.ok("Read", in{"path": "a.sh"})
	b.ok("Write", in{"path": "a.sh", "content": "1\n2\n3\n"})
	if got, want := b.content("other"), bom+"1\r\n2\r\n3\r\n"; got != want {
		t.Errorf("it holds %q, want %q", got, want)
	}
	plain := b.write("plain", "x")
	if err := os.Chmod(plain, 0o711); err != nil {
		t.Fatal(err)
	}
	b.ok("Read", in{"path": "plain"})
	b.ok("Write", in{"path": "plain", "content": "y"})
	for p, want := range map[string]os.FileMode{path: 0o750, plain: 0o711} {
		if info, err := os.Stat(p); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, %v", p, info.Mode(), err)
		}
	}
}

func TestSnapshotsHoldTheFileBeforeItIsWritten(t *testing.T) {
	b := newBench(t)
	path := b.write("a.txt", "old")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	b.ok("Read", in{"path": "a.txt"})
	big := strings.Repeat("x", files.MaxSnapshot+1)
	b.write("big.txt", big)
	b.env.Seen.Note(protocol.FileState{Path: filepath.Join(b.root, "big.txt"), SHA256: files.Sum([]byte(big)), Whole: true})
	for _, c := range []struct {
		path string
		want Snapshot
	}{
		{"a.txt", Snapshot{Existed: true, Restorable: true, Mode: 0o600, Content: []byte("old")}},
		{"new.txt", Snapshot{Restorable: true}},
		{"big.txt", Snapshot{Existed: true, Mode: 0o644}},
	} {
		p, err := b.prepare("Write", in{"path": c.path, "content": "y"})
		if err != nil {
			t.Fatal(err)
		}
		snaps, err := p.Snapshots(t.Context())
		p.Close()
		if err != nil || len(snaps) != 1 {
			t.Fatalf("%s: %v, %v", c.path, snaps, err)
		}
		s := snaps[0]
		if s.Path != filepath.Join(b.root, c.path) || s.Existed != c.want.Existed || s.Restorable != c.want.Restorable ||
			s.Mode != c.want.Mode || string(s.Content) != string(c.want.Content) {
			t.Errorf("%s: existed %v restorable %v mode %o, %d bytes", c.path, s.Existed, s.Restorable, s.Mode, len(s.Content))
		}
	}
}

func TestDiffIsBounded(t *testing.T) {
	before, after := strings.Repeat("old line\n", 5000), strings.Repeat("new line\n", 5000)
	d := diff("/a", []byte(before), []byte(after))
	if len(d) > maxDiff || !strings.HasSuffix(d, "cut here\n") {
		t.Errorf("%d bytes, ending %q", len(d), d[max(0, len(d)-40):])
	}
}

func TestWriteDoesNotMakeAWorkspaceThatIsGone(t *testing.T) {
	b := newBench(t)
	if err := os.RemoveAll(b.root); err != nil {
		t.Fatal(err)
	}
	b.fails("Write", in{"path": "sub/f", "content": "x"}, b.root+" is gone", "Ask the user")
	if _, err := os.Lstat(b.root); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
}

func TestAWorkspaceThatWasMadeAgainIsUsedAndALinkInItsPlaceIsNot(t *testing.T) {
	b := newBench(t)
	elsewhere := t.TempDir()
	if err := errors.Join(os.RemoveAll(b.root), os.Mkdir(b.root, 0o755)); err != nil {
		t.Fatal(err)
	}
	b.ok("Write", in{"path": "f", "content": "x"})
	b.ok("Read", in{"path": "f"})
	b.ok("Glob", in{"pattern": "*"})
	if err := errors.Join(os.RemoveAll(b.root), os.Symlink(elsewhere, b.root)); err != nil {
		t.Fatal(err)
	}
	if p, err := b.prepare("Write", in{"path": "g", "content": "x"}); err == nil {
		if p.Action().Paths[0].Inside {
			t.Error("what a link leads to counts as the workspace")
		}
		p.Close()
	}
}
