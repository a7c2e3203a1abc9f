package discovery

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func home(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPlacesAreThoseOfTheUpwardSearchThenTheUsers(t *testing.T) {
	h := home(t)
	work := filepath.Join(h, "a", "b")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	find := func() string {
		t.Helper()
		list, warning := Find(Config{WorkDir: work, Root: filepath.Join(h, "a"), Home: h, Dir: filepath.Join(h, ".scorel"), UID: os.Getuid()}, "skills", ".claude")
		if warning != "" {
			t.Error(warning)
		}
		var out []string
		for _, p := range list {
			rel, _ := filepath.Rel(h, p.Dir)
			root, _ := filepath.Rel(h, p.Root)
			out = append(out, strings.TrimSpace(rel+" "+string(p.Scope)+" "+root+" "+p.Name))
		}
		return strings.Join(out, "\n")
	}
	// Without a repository each folder stands for itself, and the home is the user's.
	want := `a/b/.scorel/skills project a/b
a/b/.claude/skills project a/b
a/.scorel/skills project a .scorel/skills
a/.claude/skills project a .claude/skills
.scorel/skills user
.claude/skills user`
	if got := find(); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	write(t, filepath.Join(h, "a", ".git", "HEAD"), "ref: x\n")
	if got := find(); got != strings.ReplaceAll(want, "project a/b", "project a") {
		t.Errorf("in a repository\n%s", got)
	}
	if err := os.Chmod(work, 0o777); err != nil {
		t.Fatal(err)
	}
	list, warning := Find(Config{WorkDir: work, Root: work, Home: h, Dir: filepath.Join(h, ".scorel"), UID: os.Getuid()}, "skills")
	if len(list) != 1 || list[0].Scope != User || !strings.Contains(warning, "can be written by everybody") {
		t.Errorf("in a folder of everybody: %+v, %q", list, warning)
	}
}

func TestAFileIsReadOnceUntilItChanges(t *testing.T) {
	h := home(t)
	name := write(t, filepath.Join(h, "f"), "one")
	now := time.Now()
	c := NewCache[string](func() time.Time { return now })
	made := 0
	get := func() string {
		t.Helper()
		v, err := c.Get(h, "f", func() (string, error) {
			made++
			r, err := Read(h, "f", 100)
			return string(r.Data), err
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	get()
	get()
	if made != 2 {
		t.Errorf("a file that was just written was made %d times: its times do not name it yet", made)
	}
	now = now.Add(time.Hour)
	for range 3 {
		get()
	}
	if made != 3 {
		t.Errorf("an old file was made %d times more", made-2)
	}
	write(t, name, "two")
	if got := get(); got != "two" {
		t.Errorf("after a change %q", got)
	}
	failed := errors.New("broken")
	write(t, name, "three")
	for range 2 {
		if _, err := c.Get(h, "f", func() (string, error) { return "", failed }); !errors.Is(err, failed) {
			t.Error(err)
		}
	}
}

func TestTheCacheKeepsToItsBoundUnderTenTimesItsMaximum(t *testing.T) {
	h := home(t)
	c := NewCache[int](func() time.Time { return time.Now().Add(time.Hour) })
	for i := range 10 * maxCached {
		name := fmt.Sprintf("f%d", i)
		if err := os.Link(firstOf(t, h), filepath.Join(h, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(h, name, func() (int, error) { return i, nil }); err != nil {
			t.Fatal(err)
		}
		if n := c.Len(); n > maxCached {
			t.Fatalf("%d files are kept", n)
		}
		_ = os.Remove(filepath.Join(h, name))
	}
	if c.Len() < trimTo {
		t.Errorf("only %d files are kept", c.Len())
	}
}

func firstOf(t *testing.T, dir string) string {
	name := filepath.Join(dir, "first")
	if _, err := os.Stat(name); err != nil {
		write(t, name, "")
	}
	return name
}

func TestNamesHaveABoundAndHiddenOnesAreLeftOut(t *testing.T) {
	h := home(t)
	p := Place{Dir: filepath.Join(h, "skills")}
	if names, more, err := p.Names(); names != nil || more || err != nil {
		t.Errorf("a place that is not there: %v, %v, %v", names, more, err)
	}
	for _, n := range []string{"b", "a", ".hidden"} {
		write(t, filepath.Join(p.Dir, n), "")
	}
	if names, more, err := p.Names(); !slices.Equal(names, []string{"a", "b"}) || more || err != nil {
		t.Errorf("%v, %v, %v", names, more, err)
	}
	for i := range maxNames {
		write(t, filepath.Join(p.Dir, fmt.Sprintf("n%04d", i)), "")
	}
	if names, more, err := p.Names(); len(names) > maxNames || len(names) < maxNames-2 || !more || err != nil {
		t.Errorf("%d names, %v, %v", len(names), more, err)
	}
}

func TestWhatIsNoOrdinaryFileIsNotRead(t *testing.T) {
	h := home(t)
	if err := syscall.Mkfifo(filepath.Join(h, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(h, "long"), strings.Repeat("x", 101))
	write(t, filepath.Join(h, "d", "f"), "in")
	write(t, filepath.Join(h, "out"), "out")
	if err := os.Symlink("../out", filepath.Join(h, "d", "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, name, want string }{
		{h, "pipe", "is not a regular file"}, {h, "d", "is not a regular file"}, {h, "long", "has 101 bytes; at most 100 are read"}, {filepath.Join(h, "d"), "link", "cannot be read"},
	} {
		if _, err := Read(c.dir, c.name, 100); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, dir := range []string{filepath.Join(h, "none"), filepath.Join(h, "out")} {
		if _, err := Read(dir, "f", 100); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if c, err := Read(filepath.Join(h, "d"), "f", 100); err != nil || string(c.Data) != "in" || len(c.Hash) != 64 {
		t.Errorf("%+v, %v", c, err)
	}
}
