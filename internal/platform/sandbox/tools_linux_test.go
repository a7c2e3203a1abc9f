package sandbox

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/platform/sandbox/sandboxtest"
)

// repository makes a Git repository in dir, unconfined.
func newRepository(t *testing.T, w *world, dir string) {
	t.Helper()
	git(t, w, dir, "init", "-q", "-b", "main")
	git(t, w, dir, "add", "file")
	git(t, w, dir, "commit", "-qm", "first")
}

func git(t *testing.T, w *world, dir string, args ...string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v %s", args, err, out)
	}
}

// plainWorld has a workspace without odd characters and without protected files,
// and a configuration for Git.
func plainWorld(t *testing.T, base string, noNamespaces bool) *world {
	t.Helper()
	w := newWorld(t, base, layout{noNamespaces: noNamespaces})
	home := filepath.Join(w.base, "home")
	must(t, os.Rename(w.home, home), os.RemoveAll(filepath.Join(home, "my work")))
	w.home, w.ws = home, filepath.Join(home, "work")
	write(t, filepath.Join(w.ws, "file"), "old\n")
	write(t, filepath.Join(home, ".gitconfig"), "[user]\nname = A User\nemail = a@example.com\n")
	cache, err := CacheDir(home, w.ws)
	must(t, err)
	w.profile.Home, w.profile.Closed, w.profile.Roots, w.profile.CacheDir = home, []string{home + "/.scorel"}, []string{w.ws}, cache
	return w
}

// works runs a script that must succeed.
func (w *world) works(t *testing.T, script string) string {
	t.Helper()
	out, exit := w.call(t, &w.profile, "set -e\n"+script)
	if exit.Code != 0 {
		t.Errorf("%+v %s", exit, out)
	}
	return out
}

func toolSuite(t *testing.T, base string) {
	for name, without := range map[string]bool{"with namespaces": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			t.Run("git", func(t *testing.T) {
				w := plainWorld(t, base, without)
				newRepository(t, w, w.ws)
				out := w.works(t, `echo new > file; git commit -qam second; git log --format=%an:%s; git checkout -qb side; git stash list; git gc -q; git clone -q . inner; git -C inner log --format=%s -1`)
				if out != "A User:second\nA User:first\nsecond\n" {
					t.Errorf("%s", out)
				}
			})
			t.Run("git in a worktree", func(t *testing.T) {
				w := plainWorld(t, base, without)
				main := filepath.Join(w.base, "main")
				write(t, filepath.Join(main, "file"), "old\n")
				newRepository(t, w, main)
				must(t, os.RemoveAll(w.ws))
				git(t, w, main, "worktree", "add", "-q", w.ws)
				w.works(t, `echo new > file; git commit -qam second; git log --format=%s -1`)
				if !without {
					out, _ := w.call(t, &w.profile, `for f in "$BASE/main/file" "$BASE/main/.git/config" "$BASE/main/.git/hooks/x" "$BASE/main/.git/worktrees/work/commondir" .git; do echo x >> "$f" && echo could $f; done 2>/dev/null
						mv "$BASE/main/.git/worktrees/work" "$BASE/main/.git/worktrees/y" 2>/dev/null && echo could move; true`)
					if out != "" {
						t.Errorf("%s", out)
					}
				}
			})
			t.Run("git in a submodule", func(t *testing.T) {
				w := plainWorld(t, base, without)
				sub, super := filepath.Join(w.base, "sub"), filepath.Join(w.base, "super")
				for _, dir := range []string{sub, super} {
					write(t, filepath.Join(dir, "file"), "old\n")
					newRepository(t, w, dir)
				}
				git(t, w, super, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub, "lib/part")
				w.ws = filepath.Join(super, "lib", "part")
				w.profile.Roots = []string{w.ws}
				w.works(t, `echo new > file; git commit -qam second; git log --format=%s -1`)
				if !without {
					out, _ := w.call(t, &w.profile, `for f in "$BASE/super/file" "$BASE/super/.git/config" "$BASE/super/.git/modules/lib/part/config"; do echo x >> "$f" && echo could $f; done 2>/dev/null; true`)
					if out != "" {
						t.Errorf("%s", out)
					}
					w.ws = super // and the other way round: hooks of a submodule are protected
					w.profile.Roots = []string{super}
					out, _ = w.call(t, &w.profile, `echo x >> .git/modules/lib/part/config || mv .git/modules/lib .git/modules/away || echo held`)
					if !strings.HasSuffix(out, "held\n") {
						t.Errorf("%s", out)
					}
				}
			})
			t.Run("go", func(t *testing.T) {
				w := plainWorld(t, base, without)
				w.profile.CacheDir = filepath.Join(base, "caches") // one: the standard library is compiled once
				must(t, os.MkdirAll(w.profile.CacheDir, 0o700))
				if from, to := os.Getenv(compiled), filepath.Join(w.profile.CacheDir, "go-build"); from != "" {
					if _, err := os.Stat(to); err != nil {
						must(t, os.CopyFS(to, os.DirFS(from)))
					}
				}
				t.Cleanup(func() { _ = removeTree(filepath.Join(w.profile.CacheDir, "go-mod")) }) // Go makes it read-only
				moduleCache(t, filepath.Join(w.home, "go", "pkg", "mod", "cache", "download", "example.com", "dep", "@v"))
				write(t, filepath.Join(w.ws, "go.mod"), "module m\n\ngo 1.24\n\nrequire example.com/dep v1.0.0\n")
				write(t, filepath.Join(w.ws, "m_test.go"), goTest)
				w.profile.Network = without // else the loopback is the command's own, and what answers is the file
				out, exit := w.call(t, &w.profile, `export GOSUMDB=off GOTOOLCHAIN=local CGO_ENABLED=0; go mod download && go mod tidy && go test -vet=off ./... && go env GOMODCACHE`)
				if exit.Code != 0 || !strings.Contains(out, "ok  \tm") || !strings.Contains(out, w.profile.CacheDir+"/go-mod") {
					t.Errorf("%+v %s", exit, out)
				}
				if _, err := os.Stat(filepath.Join(w.home, "go", "pkg", "mod", "example.com")); err == nil {
					t.Error("the user's own module cache was written")
				}
			})
			t.Run("gcc", func(t *testing.T) {
				w := plainWorld(t, base, without)
				write(t, filepath.Join(w.ws, "a.c"), "#include <stdio.h>\nint main(void) { puts(\"compiled\"); return 0; }\n")
				if out := w.works(t, `gcc -o a a.c && ./a`); out != "compiled\n" {
					t.Errorf("%s", out)
				}
			})
			t.Run("npm", func(t *testing.T) {
				w := plainWorld(t, base, without)
				write(t, filepath.Join(w.ws, "package.json"), `{"name":"a","version":"1.0.0","scripts":{"hello":"node -e \"require('fs').writeFileSync('made','x');console.log('from node')\""}}`)
				if out := w.works(t, `npm run --silent hello; npm config get cache; cat made`); !strings.HasPrefix(out, "from node\n"+w.profile.CacheDir+"/npm\n") {
					t.Errorf("%s", out)
				}
			})
		})
	}
}

// goTest uses a module, the loopback and temporary files.
const goTest = `package m

import (
	"net"
	"os"
	"testing"

	"example.com/dep"
)

func TestDep(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := net.Dial("tcp", l.Addr().String()); err != nil || dep.Answer != 42 {
		t.Fatal(err)
	}
	if err := os.WriteFile(t.TempDir()+"/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
`

// moduleCache makes a cache of downloaded modules with one module.
func moduleCache(t *testing.T, dir string) {
	t.Helper()
	var z bytes.Buffer
	w := zip.NewWriter(&z)
	for name, text := range map[string]string{"go.mod": "module example.com/dep\n\ngo 1.24\n", "dep.go": "package dep\n\nconst Answer = 42\n"} {
		f, err := w.Create("example.com/dep@v1.0.0/" + name)
		must(t, err)
		_, err = f.Write([]byte(text))
		must(t, err)
	}
	must(t, w.Close())
	write(t, filepath.Join(dir, "v1.0.0.zip"), z.String())
	write(t, filepath.Join(dir, "v1.0.0.mod"), "module example.com/dep\n\ngo 1.24\n")
	write(t, filepath.Join(dir, "v1.0.0.info"), `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`)
	write(t, filepath.Join(dir, "list"), "v1.0.0\n")
}

// compiled is the variable with the folder of Go's compiled packages that a suite begins
// with; without it the suite compiles the standard library.
const compiled = "SCOREL_TEST_COMPILED"

func TestOrdinaryToolsWork(t *testing.T) {
	needConfinement(t)
	dir := "" // of what the first suite has compiled
	t.Cleanup(func() {
		if dir != "" {
			must(t, os.Unsetenv(compiled), os.RemoveAll(dir))
		}
	})
	t.Run("for this user", func(t *testing.T) {
		base := t.TempDir()
		toolSuite(t, base)
		made := filepath.Join(base, "caches", "go-build")
		if _, err := os.Stat(made); err != nil {
			return // only other parts of the suite were asked for
		}
		var err error
		dir, err = os.MkdirTemp("", "compiled") // not t.TempDir: its parents are closed to others
		must(t, err)
		to := filepath.Join(dir, "go-build")
		must(t, os.Chmod(dir, 0o755), os.CopyFS(to, os.DirFS(made)), os.Setenv(compiled, to))
	})
	t.Run("for an ordinary user", func(t *testing.T) { sandboxtest.AsUser(t, toolSuite) })
}
