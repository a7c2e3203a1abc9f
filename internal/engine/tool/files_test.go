package tool

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"scorel/internal/engine/tool/files"
	"scorel/internal/platform/sandbox/sandboxtest"
)

func symlink(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func TestActionShowsTheResolvedPath(t *testing.T) {
	b := newBench(t)
	inside, outside := b.write("dir/a.txt", "x"), b.write(filepath.Join(b.out, "b.txt"), "x")
	home := b.write(filepath.Join(filepath.Dir(b.reach), "notes.txt"), "x")
	symlink(t, "dir/a.txt", filepath.Join(b.root, "link"))
	symlink(t, b.out, filepath.Join(b.root, "away"))
	for _, c := range []struct {
		path, abs         string
		inside, protected bool
	}{
		{"dir/a.txt", inside, true, false},
		{inside, inside, true, false},
		{"link", inside, true, false},
		{"away/b.txt", outside, false, false},
		{"dir/../../out/b.txt", outside, false, false},
		{"~/notes.txt", home, false, false},
		{b.write(".git/config", "x"), filepath.Join(b.root, ".git/config"), true, true},
		{b.write("sub/.Envrc", "x"), filepath.Join(b.root, "sub/.Envrc"), true, true},
	} {
		p, err := b.prepare("Read", in{"path": c.path})
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		got := p.Action().Paths[0]
		p.Close()
		if got.Abs != c.abs || got.Inside != c.inside || got.Protected != c.protected || got.OutOfReach {
			t.Errorf("%s gives %+v", c.path, got)
		}
	}
}

func TestAdditionalFoldersCountAsInside(t *testing.T) {
	b := newBench(t)
	b.write(filepath.Join(b.out, "b.txt"), "x")
	opened, err := files.New(files.Config{Root: b.root, Additional: []string{b.out}})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	target, err := opened.Open(filepath.Join(b.out, "b.txt"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if !target.Path.Inside {
		t.Error("it is outside")
	}
	if _, err := files.New(files.Config{Root: filepath.Join(b.root, "none")}); err == nil {
		t.Error("a workspace that is not there is opened")
	}
}

func TestWorkspaceInAProtectedFolderIsNotProtected(t *testing.T) {
	b := newBench(t)
	work := filepath.Join(b.out, ".claude", "worktrees", "x")
	b.write(filepath.Join(work, "a.txt"), "x")
	b.write(filepath.Join(work, ".git/HEAD"), "x")
	opened, err := files.New(files.Config{Root: work})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for path, want := range map[string]bool{"a.txt": false, ".git/HEAD": true, "../y": true} {
		target, err := opened.Open(path, false)
		if err != nil {
			t.Fatal(err)
		}
		if target.Path.Protected != want {
			t.Errorf("%s: %+v", path, target.Path)
		}
		target.Close()
	}
}

func TestScorelsOwnFolderIsClosed(t *testing.T) {
	b := newBench(t)
	secret := b.write(filepath.Join(b.reach, "credentials.json"), "secret")
	symlink(t, b.reach, filepath.Join(b.root, "link"))
	symlink(t, secret, filepath.Join(b.root, "file"))
	if err := os.Link(secret, filepath.Join(b.root, "hard")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{secret, "link/credentials.json", "file", "hard", "~/.scorel/credentials.json", "../home/.scorel/credentials.json", b.reach + "/new"} {
		b.fails("Read", in{"path": path}, "closed to tools")
		b.fails("Write", in{"path": path, "content": "x"}, "closed to tools")
		b.fails("Edit", edits(path, "secret", "x"), "closed to tools")
	}
	for _, path := range []string{b.reach, "link"} {
		b.fails("Glob", in{"pattern": "*", "path": path}, "closed to tools")
		b.fails("Grep", in{"pattern": "secret", "path": path}, "closed to tools")
	}
	if got := b.content(secret); got != "secret" {
		t.Errorf("it holds %q", got)
	}
}

func TestScorelsOwnFolderIsClosedUnderAnotherName(t *testing.T) {
	b := newBench(t)
	b.write(filepath.Join(b.reach, "sub", "key"), "secret")
	moved := filepath.Join(b.root, "moved")
	if err := os.Rename(b.reach, moved); err != nil {
		t.Fatal(err)
	}
	symlink(t, moved, b.reach) // the configured path leads there, the name says nothing
	b.fails("Read", in{"path": "moved/sub/key"}, "closed to tools")
	b.fails("Write", in{"path": "moved/sub/new", "content": "x"}, "closed to tools")
	b.fails("Glob", in{"pattern": "*", "path": "moved"}, "closed to tools")
}

func TestSpecialFilesAreRefused(t *testing.T) {
	b := newBench(t)
	if err := syscall.Mkfifo(filepath.Join(b.root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"pipe", "/dev/null", "/dev/zero"} {
		b.fails("Read", in{"path": path}, "device, pipe or socket")
		b.fails("Write", in{"path": path, "content": "x"}, "device, pipe or socket")
	}
	symlink(t, "two", filepath.Join(b.root, "one"))
	symlink(t, "one", filepath.Join(b.root, "two"))
	b.fails("Read", in{"path": "one"}, "one: too many levels of symbolic links")
	b.fails("Write", in{"path": "one/x", "content": "x"}, "too many levels of symbolic links")
}

// The environment of the host holds keys.
func TestFilesOfProcessesAreRefused(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		symlink(t, "/proc/self", filepath.Join(b.root, "self"))
		for _, path := range []string{"/proc/self/environ", "self/environ", "/proc/self/mem", "/proc/kmsg", "self/root/proc/self/environ"} {
			b.fails("Read", in{"path": path}, "cannot be used as a file")
		}
		b.fails("Grep", in{"pattern": "PATH", "path": "self"}, "cannot be")
		b.fails("Grep", in{"pattern": "PATH", "path": "/proc"}, "cannot be searched")
		if text := b.ok("Glob", in{"pattern": "/*"}); strings.Contains(text, "/proc") {
			t.Error(text)
		}
	})
}

func TestPathsThatLeadNowhereSaySo(t *testing.T) {
	b := newBench(t)
	b.write("main.go", "x")
	b.write("config.yaml", "x")
	symlink(t, "nothing", filepath.Join(b.root, "dangling"))
	b.fails("Read", in{"path": "mian.go"}, "does not exist", "main.go")
	b.fails("Read", in{"path": "config.yml"}, "does not exist", "config.yaml")
	b.fails("Read", in{"path": "no/such/file"}, `no "no" in `+b.root)
	b.fails("Read", in{"path": "main.go/x"}, "is a file, not a folder")
	b.fails("Read", in{"path": "dangling"}, "symbolic link to something that does not exist")
	b.fails("Write", in{"path": "dangling", "content": "x"}, "symbolic link to something that does not exist")
	b.fails("Read", in{"path": "a\x00b"}, "NUL")
	b.fails("Read", in{"path": "."}, "is a folder", "Glob")
	b.fails("Edit", edits("new.txt", "a", "b"), "does not exist", "Use Write")
}

// A swap between the question and the use: whoever answers the question saw one
// path, and only that may be touched.
func TestLinkSwappedBetweenQuestionAndUseNeverRedirects(t *testing.T) {
	swaps := map[string]func(t *testing.T, b *bench){
		"the file becomes a link": func(t *testing.T, b *bench) {
			if err := os.Remove(filepath.Join(b.root, "dir/a.txt")); err != nil {
				t.Fatal(err)
			}
			symlink(t, filepath.Join(b.out, "a.txt"), filepath.Join(b.root, "dir/a.txt"))
		},
		"the folder becomes a link": func(t *testing.T, b *bench) {
			if err := os.Rename(filepath.Join(b.root, "dir"), filepath.Join(b.root, "old")); err != nil {
				t.Fatal(err)
			}
			symlink(t, b.out, filepath.Join(b.root, "dir"))
		},
		"the file is replaced": func(t *testing.T, b *bench) {
			if err := os.Rename(filepath.Join(b.out, "a.txt"), filepath.Join(b.root, "dir/a.txt")); err != nil {
				t.Fatal(err)
			}
			b.write(filepath.Join(b.out, "a.txt"), "same\n")
		},
	}
	calls := map[string]func(b *bench) (string, in){
		"Write new": func(*bench) (string, in) { return "Write", in{"path": "dir/new.txt", "content": "evil"} },
		"Write":     func(*bench) (string, in) { return "Write", in{"path": "dir/a.txt", "content": "evil"} },
		"Edit":      func(*bench) (string, in) { return "Edit", edits("dir/a.txt", "same", "evil") },
		"Read":      func(*bench) (string, in) { return "Read", in{"path": "dir/a.txt"} },
	}
	for swapName, swap := range swaps {
		for callName, call := range calls {
			t.Run(callName+"/"+swapName, func(t *testing.T) {
				b := newBench(t)
				b.write("dir/a.txt", "same\n")
				b.write(filepath.Join(b.out, "a.txt"), "same\n")
				b.ok("Read", in{"path": "dir/a.txt"})
				tool, input := call(b)
				p, err := b.prepare(tool, input)
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				swap(t, b)
				r, err := p.Run(t.Context(), nil)
				if got := b.content(filepath.Join(b.out, "a.txt")); got != "same\n" {
					t.Errorf("the file outside holds %q", got)
				}
				if _, err := os.Stat(filepath.Join(b.out, "new.txt")); err == nil {
					t.Error("a file was made outside")
				}
				if callName == "Read" && (err != nil || !strings.Contains(r.Content[0].Text, "same")) {
					t.Errorf("the file that was opened is not read: %v", err)
				}
			})
		}
	}
}

func TestLinkSwappedIntoAMissingFolderIsNotFollowed(t *testing.T) {
	b := newBench(t)
	p, err := b.prepare("Write", in{"path": "new/deep/a.txt", "content": "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	symlink(t, b.out, filepath.Join(b.root, "new"))
	if _, err := p.Run(t.Context(), nil); err == nil {
		t.Error("it was written")
	}
	if left, _ := os.ReadDir(b.out); len(left) > 0 {
		t.Errorf("outside there are %v", left)
	}
}

func TestFilePermissionsAreRespected(t *testing.T) {
	sandboxtest.AsUser(t, func(t *testing.T, dir string) {
		b := benchIn(t, dir)
		path := b.write("a.txt", "old\n")
		b.ok("Read", in{"path": "a.txt"})
		if err := os.Chmod(path, 0o444); err != nil {
			t.Fatal(err)
		}
		b.fails("Edit", edits("a.txt", "old", "new"), "permission denied")
		b.fails("Write", in{"path": "a.txt", "content": "new"}, "permission denied")
		if err := os.Chmod(path, 0o000); err != nil {
			t.Fatal(err)
		}
		b.fails("Read", in{"path": "a.txt"}, "permission denied")
		closed := filepath.Join(b.root, "closed")
		if err := os.Mkdir(closed, 0o555); err != nil {
			t.Fatal(err)
		}
		b.fails("Write", in{"path": "closed/b.txt", "content": "x"}, "permission denied")

		// A file that may be written in a folder that may not.
		if err := os.Chmod(closed, 0o755); err != nil {
			t.Fatal(err)
		}
		b.write("closed/c.txt", "old\n")
		if err := os.Chmod(closed, 0o555); err != nil {
			t.Fatal(err)
		}
		b.ok("Read", in{"path": "closed/c.txt"})
		b.ok("Write", in{"path": "closed/c.txt", "content": "new\n"})
		if got := b.content("closed/c.txt"); got != "new\n" {
			t.Errorf("it holds %q", got)
		}
		if err := os.Chmod(closed, 0o755); err != nil { // so that it can be removed
			t.Fatal(err)
		}
	})
}

func TestAWorkspaceThatIsTheHomeDoesNotOpenTheUsersKeys(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".ssh", ".sshx", "dotfiles/aws", "project"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("dotfiles/aws", filepath.Join(home, ".aws")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		root, path   string
		inside, keys bool
	}{
		{".", ".ssh/id", false, true},
		{".", ".ssh", false, true},
		{".", ".sshx/id", true, false},
		{".", ".gnupg/new/key", false, true},
		{".", ".aws/credentials", false, true},
		{".", "dotfiles/aws/credentials", false, true},
		{".", "dotfiles/vimrc", true, false},
		{"project", ".ssh/id", false, false}, // outside anyway
		{".ssh", ".ssh/config", true, false}, // the user works there
	} {
		f, err := files.New(files.Config{Root: filepath.Join(home, c.root), Home: home})
		if err != nil {
			t.Fatal(err)
		}
		if p := f.Resolve(filepath.Join(home, c.path)); p.Inside != c.inside || p.Keys != c.keys {
			t.Errorf("%s in %s: %+v", c.path, c.root, p)
		}
		f.Close()
	}
}
