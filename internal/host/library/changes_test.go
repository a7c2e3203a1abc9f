package library_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// writes returns the step of a script that writes a file.
func writes(path, content string) string {
	return `{"call":"Write","input":{"path":"` + path + `","content":"` + content + `"}}`
}

func TestChangesOfASessionAreFromBeforeItsFirstWriteToNow(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{},
		`{"if":{"user":"read"},"do":[{"call":"Read","input":{"path":"a.txt"}},{"call":"Read","input":{"path":"same.txt"}},{"call":"Read","input":{"path":"gone.txt"}}]}`,
		`{"if":{"user":"write"},"do":[`+strings.Join([]string{writes("a.txt", `one\ntwo\n`), writes("same.txt", "x"), writes("gone.txt", "y"), writes("new/b.txt", `b\n`)}, ",")+`]}`,
		`{"if":{"user":"back"},"do":[`+writes("same.txt", "same")+`]}`,
		`{"again":true,"do":[{"text":"ok"}]}`)
	w.File("a.txt", "one\n")
	w.File("same.txt", "same")
	w.File("gone.txt", "gone")
	e := w.Begin(false)
	list := func() *protocol.ChangeList {
		t.Helper()
		return hosttest.Call[*protocol.ChangeList](t, e.C, e.ID, &protocol.ListChanges{})
	}
	if got := list(); len(got.Files) != 0 || got.More {
		t.Fatalf("of a new session: %+v", got)
	}
	allow := protocol.TurnOptions{Allow: []string{"Read", "Write"}}
	for _, text := range []string{"read", "write", "back"} {
		e.With(text, allow)
	}
	if err := os.Remove(filepath.Join(w.Project, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	got := list()
	if len(got.Files) != 3 {
		t.Fatalf("the changes are %+v", got.Files)
	}
	for i, want := range []protocol.ChangedFile{
		{Path: "a.txt", State: protocol.ChangeChanged, Added: 1},
		{Path: "gone.txt", State: protocol.ChangeRemoved, Removed: 1},
		{Path: "new/b.txt", State: protocol.ChangeAdded, Added: 1},
	} {
		have := got.Files[i]
		if !strings.Contains(have.Diff, "@@") {
			t.Errorf("%s has no difference", have.Path)
		}
		if have.Diff = ""; have != want {
			t.Errorf("got %+v, not %+v", have, want)
		}
	}
	w.File("a.txt", "one\n") // a person takes it back
	if got := list(); len(got.Files) != 2 {
		t.Errorf("what is as it was is a change: %+v", got.Files)
	}
	w.File("new/b.txt", "\x00\x01")
	if got := list().Files[1]; !got.Binary || got.Diff != "" || got.State != protocol.ChangeAdded {
		t.Errorf("what is not text: %+v", got)
	}
	w.File("new/b.txt", strings.Repeat("a long line\n", 10_000))
	if got := list().Files[1]; !got.Omitted || got.Diff != "" || got.Added != 10_000 {
		t.Errorf("a long difference: %+v", got)
	}
}

func TestOfAFileOutsideTheFolderOnlyTheNameIsTold(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	e := w.Begin(false)
	if err := e.S.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Appended(e.ID,
		&protocol.FileSnapshot{ToolCallID: "c1", Path: "/etc/hostname"},
		&protocol.FileSnapshot{ToolCallID: "c2", Path: filepath.Join(w.Home, ".scorel", "config.toml")},
		&protocol.FileSnapshot{ToolCallID: "c3", Path: filepath.Join(w.Project, "lost"), Existed: true, Restorable: true, Blob: strings.Repeat("ab", 32)},
		&protocol.FileSnapshot{ToolCallID: "c4", Path: filepath.Join(w.Project, "large"), Existed: true})
	got := hosttest.Call[*protocol.ChangeList](t, e.C, e.ID, &protocol.ListChanges{})
	for _, f := range got.Files {
		if f.Problem == "" || f.Diff != "" {
			t.Errorf("%+v", f)
		}
	}
	if len(got.Files) != 4 {
		t.Errorf("the changes are %+v", got.Files)
	}
}

func TestChangesAreComparedWithTheLastCommitWithoutStartingGit(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{},
		`{"if":{"user":"write"},"do":[`+strings.Join([]string{writes("new.txt", `new\n`), writes("other.txt", `o\n`)}, ",")+`]}`,
		`{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	hosttest.Refused(t, e.C, e.ID, &protocol.ListChanges{Git: true}, protocol.CodeInvalidRequest)
	e.With("write", protocol.TurnOptions{Allow: []string{"Write"}})
	list := func(git bool) *protocol.ChangeList {
		t.Helper()
		return hosttest.Call[*protocol.ChangeList](t, e.C, e.ID, &protocol.ListChanges{Git: git})
	}
	if got := list(false); got.Git || len(got.Files) != 2 {
		t.Errorf("without a repository: %+v", got)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "new.txt"}, {"-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "m"}} {
		if out, err := exec.Command("git", append([]string{"-C", w.Project}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if got := list(false); !got.Git || len(got.Files) != 2 {
		t.Errorf("since the session began: %+v", got)
	}
	if got := list(true).Files; len(got) != 1 || got[0].Path != "other.txt" || got[0].State != protocol.ChangeAdded {
		t.Errorf("what is committed is a change: %+v", got)
	}
	w.File("new.txt", "newer\n")
	if got := list(true).Files; len(got) != 2 || got[0].State != protocol.ChangeChanged || got[0].Added != 1 || got[0].Removed != 1 {
		t.Errorf("since the last commit: %+v", got)
	}
}
