package filelist_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// filesOf returns all files that fit. While the list is being taken the answer says
// that there are more, and comes only after a moment: then it is asked again.
func filesOf(t *testing.T, c *client.Client, id protocol.ProjectID, query string) []string {
	t.Helper()
	for start := time.Now(); ; {
		l := hosttest.Call[*protocol.FileList](t, c, "", &protocol.ListFiles{ProjectID: id, Query: query})
		if !l.More {
			return l.Files
		}
		if time.Since(start) > hosttest.Patience {
			t.Fatalf("%q: the list is not complete: %+v", query, l)
		}
	}
}

func TestFilesOfAProjectAreFoundByAFewLetters(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	for _, f := range []string{"main.go", "internal/host/conn.go", "internal/host/connect_test.go", "docs/config.md", "node_modules/main/index.js", "build/out.bin", ".env", ".git/config", ".github/workflows/ci.yml"} {
		w.File(f, "x")
	}
	w.File(".gitignore", "node_modules/\n*.bin\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(w.Project, "passwd")); err != nil {
		t.Fatal(err)
	}
	c := w.Connect(false)
	id := w.Registered(c).ProjectID
	for query, want := range map[string][]string{
		"":       {"main.go", "docs/config.md", "internal/host/conn.go", "internal/host/connect_test.go"},
		"conn":   {"internal/host/conn.go", "internal/host/connect_test.go"},
		"HC":     {"internal/host/conn.go", "internal/host/connect_test.go"},
		"main":   {"main.go"},
		"bin":    {},
		"passwd": {},
		"env":    {},
	} {
		if got := filesOf(t, c, id, query); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, not %q", query, got, want)
		}
	}
	got := hosttest.Call[*protocol.FileList](t, c, "", &protocol.ListFiles{ProjectID: id, Limit: 1})
	if len(got.Files) != 1 || !got.More {
		t.Errorf("one of several: %+v", got)
	}
	hosttest.Refused(t, c, "", &protocol.ListFiles{ProjectID: id, Query: strings.Repeat("x", 300)}, protocol.CodeInvalidRequest)
	hosttest.Refused(t, c, "", &protocol.ListFiles{ProjectID: "prj_0000000000000000"}, protocol.CodeProjectNotFound)
}

func TestNothingOfScorelAndNoKeysAreFoundEvenInTheHome(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	for _, f := range []string{".ssh/id_rsa", ".aws/credentials", ".scorel/credentials.json", "notes.txt", ".config/gh/hosts.yml", ".profile"} {
		w.Write(filepath.Join(w.Home, f), "x")
	}
	w.Write(filepath.Join(w.Home, ".ignore"), "!.*\n!.*/\n") // show all that is hidden
	if out, err := exec.Command("git", "init", "-q", w.Home).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	c := w.Connect(false)
	p := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: w.Home})
	got := filesOf(t, c, p.ProjectID, "")
	for _, f := range got {
		if strings.HasPrefix(f, ".ssh") || strings.HasPrefix(f, ".aws") || strings.HasPrefix(f, ".scorel") || strings.HasPrefix(f, ".config/gh") {
			t.Errorf("%s is told", f)
		}
	}
	if !slices.Contains(got, "notes.txt") || !slices.Contains(got, ".profile") {
		t.Errorf("found %q", got)
	}
}

// TestANewFileIsFoundSoonAndQueriesDoNotWaitForIt: a list is taken again when it is
// a few seconds old, while the old one answers.
func TestANewFileIsFoundSoonAndQueriesDoNotWaitForIt(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "project")
	put := func(name string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put("old.txt")
	synctest.Test(t, func(t *testing.T) {
		c := hosttest.Bare(t, home)
		id := hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: dir}).ProjectID
		finds := func(when string, want ...string) {
			t.Helper()
			if got := filesOf(t, c, id, "txt"); !slices.Equal(got, want) {
				t.Errorf("%s: %q, not %q", when, got, want)
			}
		}
		finds("at first", "old.txt")
		put("new.txt")
		time.Sleep(2 * time.Second) // of the bubble's clock
		finds("a fresh list", "old.txt")
		time.Sleep(11 * time.Minute)
		finds("after a rest", "new.txt", "old.txt") // the list had gone, so this one waited
		put("newest.txt")
		time.Sleep(4 * time.Second)
		finds("a list that is not fresh", "new.txt", "old.txt")
		synctest.Wait()
		finds("then", "new.txt", "old.txt", "newest.txt")
	})
}

func TestAFolderThatIsGoneIsSaidAndComesBack(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	w.File("a.txt", "x")
	c := w.Connect(false)
	id := w.Registered(c).ProjectID
	if err := os.Rename(w.Project, w.Project+"-away"); err != nil {
		t.Fatal(err)
	}
	if pe := hosttest.Refused(t, c, "", &protocol.ListFiles{ProjectID: id}, protocol.CodeInvalidRequest); !strings.Contains(pe.Message, w.Project) {
		t.Errorf("%v", pe)
	}
	if err := os.Rename(w.Project+"-away", w.Project); err != nil {
		t.Fatal(err)
	}
	if got := filesOf(t, c, id, ""); !slices.Equal(got, []string{"a.txt"}) {
		t.Errorf("it is back: %q", got)
	}
}

func TestManyProjectsAreSearchedAtOnce(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	c := w.Connect(false)
	var ids []protocol.ProjectID
	for i := range 6 {
		dir := filepath.Join(w.Home, fmt.Sprint("p", i))
		w.Write(filepath.Join(dir, fmt.Sprint("file", i)), "x")
		ids = append(ids, hosttest.Call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: dir}).ProjectID)
	}
	var wg sync.WaitGroup
	for n := range 60 {
		wg.Go(func() {
			i := n % len(ids)
			got, err := client.Call[*protocol.FileList](context.Background(), c, "", &protocol.ListFiles{ProjectID: ids[i], Query: "file"})
			for err == nil && got.More { // the machine is busy
				got, err = client.Call[*protocol.FileList](context.Background(), c, "", &protocol.ListFiles{ProjectID: ids[i], Query: "file"})
			}
			if err != nil || !slices.Equal(got.Files, []string{fmt.Sprint("file", i)}) {
				t.Errorf("project %d: %+v %v", i, got, err)
			}
		})
	}
	wg.Wait()
}

// BenchmarkListFiles asks for files of a tree of 20,000: the first time, when the
// tree is walked, and then from the list.
func BenchmarkListFiles(b *testing.B) {
	home := b.TempDir()
	dir := filepath.Join(home, "project")
	for i := range 20_000 {
		at := filepath.Join(dir, fmt.Sprint("area", i%20), fmt.Sprint("part", i%400))
		if err := errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(at, fmt.Sprintf("file_%d.go", i)), nil, 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	c := hosttest.Bare(b, home)
	ask := func(req protocol.Request) protocol.Response {
		r, err := client.Call[protocol.Response](context.Background(), c, "", req)
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	p := ask(&protocol.RegisterProject{WorkDir: dir}).(*protocol.Project)
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			ask(&protocol.ListFiles{ProjectID: p.ProjectID, Query: "part7file"})
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			p := ask(&protocol.RegisterProject{WorkDir: dir}).(*protocol.Project)
			ask(&protocol.ListFiles{ProjectID: p.ProjectID, Query: "part7file"})
			ask(&protocol.RemoveProject{ProjectID: p.ProjectID})
		}
	})
}
