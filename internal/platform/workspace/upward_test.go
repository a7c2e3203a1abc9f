package workspace

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"scorel/internal/platform/sandbox/sandboxtest"
)

// plant makes folders and files below base; a name that ends in / is a folder.
func plant(t *testing.T, base string, names ...string) {
	t.Helper()
	for _, name := range names {
		full := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		err := os.MkdirAll(full, 0o755)
		if !strings.HasSuffix(name, "/") {
			_ = os.Remove(full)
			err = os.WriteFile(full, []byte("planted"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestUpwardEndsAtTheGitRootAndAtHome(t *testing.T) {
	base := folder(t)
	plant(t, base, "home/work/repo/.git/", "home/work/repo/a/b/", "home/plain/x/", "AGENTS.md")
	home := filepath.Join(base, "home")
	b := Boundaries{Home: home, UID: os.Getuid()}
	in := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(home, n))
		}
		return out
	}
	for dir, want := range map[string]Search{
		"work/repo/a/b": {Dirs: in("work/repo", "work/repo/a", "work/repo/a/b"), Tree: in("work/repo")[0]},
		"plain/x":       {Dirs: in("", "plain", "plain/x")},
		"":              {Dirs: in("")},
	} {
		if got := Upward(filepath.Join(home, dir), b); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", dir, got, want)
		}
	}
	plant(t, base, "home/.git/")
	if got := Upward(filepath.Join(home, "plain"), b); got.Tree != "" || len(got.Dirs) != 2 {
		t.Errorf("a repository of the whole home: %+v", got)
	}
}

func TestUpwardNeverLooksWhereOthersCanPutFiles(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		uid := os.Getuid()
		for name, mode := range map[string]os.FileMode{"open": 0o777, "sticky": 0o777 | os.ModeSticky} {
			shared := filepath.Join(dir, name)
			plant(t, shared, "AGENTS.md", ".scorel/config.toml", ".git/HEAD", "me/project/sub/", "me/AGENTS.md")
			if err := os.Chmod(shared, mode); err != nil {
				t.Fatal(err)
			}
			project := filepath.Join(shared, "me", "project")
			s := Upward(filepath.Join(project, "sub"), Boundaries{UID: uid})
			if want := []string{filepath.Dir(project), project, filepath.Join(project, "sub")}; !reflect.DeepEqual(s.Dirs, want) || s.Tree != "" {
				t.Errorf("%s: %+v, want %v", name, s, want)
			}
			if root, common := Root(project, ""); root != project || common != "" {
				t.Errorf("%s: a planted .git makes the workspace %s (%s)", name, root, common)
			}
			if b := Branch(project, ""); b != "" {
				t.Errorf("%s: a planted .git gives the branch %q", name, b)
			}
			if s := Upward(shared, Boundaries{UID: uid}); len(s.Dirs) > 0 || s.Why != "can be written by everybody" {
				t.Errorf("%s: its own search: %+v", name, s)
			}
			// A way to the project through a link elsewhere is judged by where it leads.
			link := filepath.Join(dir, "link-"+name)
			if err := os.Symlink(shared, link); err != nil {
				t.Fatal(err)
			}
			if s := Upward(filepath.Join(link, "me", "project"), Boundaries{UID: uid}); len(s.Dirs) != 2 || s.Dirs[1] != project {
				t.Errorf("%s: through a link: %+v", name, s)
			}
		}
		plant(t, dir, "mine/project/")
		s := Upward(filepath.Join(dir, "mine", "project"), Boundaries{UID: uid + 1})
		if len(s.Dirs) > 0 || s.Why != "belongs to another user" {
			t.Errorf("another user's folder: %+v", s)
		}
		for _, d := range Upward(filepath.Join(dir, "mine"), Boundaries{UID: uid}).Dirs {
			if d == "/tmp" || d == "/" {
				t.Errorf("%s is searched", d)
			}
		}
		// Who works in an open folder has its repository as workspace all the same.
		plant(t, dir, "chosen/.git/HEAD")
		chosen := filepath.Join(dir, "chosen")
		if err := os.Chmod(chosen, 0o777); err != nil {
			t.Fatal(err)
		}
		if root, common := Root(chosen, ""); root != chosen || common == "" {
			t.Errorf("the folder itself: %s, %q", root, common)
		}
	})
}

func TestUpwardIsBounded(t *testing.T) {
	base := folder(t)
	deep := filepath.Join(base, strings.Repeat("d/", 100))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if s := Upward(deep, Boundaries{UID: os.Getuid()}); len(s.Dirs) != maxDepth || s.Dirs[maxDepth-1] != filepath.Clean(deep) {
		t.Errorf("%d folders, the last %s", len(s.Dirs), s.Dirs[len(s.Dirs)-1])
	}
	if s := Upward(filepath.Join(base, "none"), Boundaries{}); len(s.Dirs) > 0 || s.Why != "cannot be read" {
		t.Errorf("a missing folder: %+v", s)
	}
}
