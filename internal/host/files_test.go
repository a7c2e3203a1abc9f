package host_test

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
	"scorel/protocol"
)

// filesOf gives all files that fit. While the list is being taken the answer says
// that there are more, and comes only after a moment: then it is asked again.
func filesOf(t *testing.T, c *client.Client, id protocol.ProjectID, query string) []string {
	t.Helper()
	for start := time.Now(); ; {
		l := call[*protocol.FileList](t, c, "", &protocol.ListFiles{ProjectID: id, Query: query})
		if !l.More {
			return l.Files
		}
		if time.Since(start) > patience {
			t.Fatalf("%q: the list is not complete: %+v", query, l)
		}
	}
}

func TestFilesOfAProjectAreFoundByAFewLetters(t *testing.T) {
	w := newWorld(t, setting{})
	for _, f := range []string{"main.go", "internal/host/conn.go", "internal/host/connect_test.go", "docs/config.md", "node_modules/main/index.js", "build/out.bin", ".env", ".git/config", ".github/workflows/ci.yml"} {
		w.file(f, "x")
	}
	w.file(".gitignore", "node_modules/\n*.bin\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(w.project, "passwd")); err != nil {
		t.Fatal(err)
	}
	c := w.connect(false)
	id := w.registered(c).ProjectID
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
	got := call[*protocol.FileList](t, c, "", &protocol.ListFiles{ProjectID: id, Limit: 1})
	if len(got.Files) != 1 || !got.More {
		t.Errorf("one of several: %+v", got)
	}
	refused(t, c, "", &protocol.ListFiles{ProjectID: id, Query: strings.Repeat("x", 300)}, protocol.CodeInvalidRequest)
	refused(t, c, "", &protocol.ListFiles{ProjectID: "prj_0000000000000000"}, protocol.CodeProjectNotFound)
}

func TestNothingOfScorelAndNoKeysAreFoundEvenInTheHome(t *testing.T) {
	w := newWorld(t, setting{})
	for _, f := range []string{".ssh/id_rsa", ".aws/credentials", ".scorel/credentials.json", "notes.txt", ".config/gh/hosts.yml", ".profile"} {
		w.write(filepath.Join(w.home, f), "x")
	}
	w.write(filepath.Join(w.home, ".ignore"), "!.*\n!.*/\n") // show all that is hidden
	if out, err := exec.Command("git", "init", "-q", w.home).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	c := w.connect(false)
	p := call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: w.home})
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

// TestANewFileIsFoundSoonAndQueriesDoNotWaitForIt: a list is taken anew when it is
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
		c := bare(t, home)
		id := call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: dir}).ProjectID
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
	w := newWorld(t, setting{})
	w.file("a.txt", "x")
	c := w.connect(false)
	id := w.registered(c).ProjectID
	if err := os.Rename(w.project, w.project+"-away"); err != nil {
		t.Fatal(err)
	}
	if pe := refused(t, c, "", &protocol.ListFiles{ProjectID: id}, protocol.CodeInvalidRequest); !strings.Contains(pe.Message, w.project) {
		t.Errorf("%v", pe)
	}
	if err := os.Rename(w.project+"-away", w.project); err != nil {
		t.Fatal(err)
	}
	if got := filesOf(t, c, id, ""); !slices.Equal(got, []string{"a.txt"}) {
		t.Errorf("it is back: %q", got)
	}
}

func TestManyProjectsAreSearchedAtOnce(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.connect(false)
	var ids []protocol.ProjectID
	for i := range 6 {
		dir := filepath.Join(w.home, fmt.Sprint("p", i))
		w.write(filepath.Join(dir, fmt.Sprint("file", i)), "x")
		ids = append(ids, call[*protocol.Project](t, c, "", &protocol.RegisterProject{WorkDir: dir}).ProjectID)
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
	c := bare(b, home)
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
