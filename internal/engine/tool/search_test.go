package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"scorel/internal/engine/tool/files"
)

// engines are the two ways to search; every test here runs over both.
func engines(t *testing.T) map[string]string {
	t.Helper()
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Log("ripgrep is not installed: only the built-in engine is tested")
		return map[string]string{"built in": ""}
	}
	return map[string]string{"built in": "", "ripgrep": rg}
}

func bothEngines(t *testing.T, fn func(t *testing.T, b *bench)) {
	for name, rg := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.env.Ripgrep = rg
			fn(t, b)
		})
	}
}

// tree writes the files, the first the newest.
func (b *bench) tree(files ...string) {
	b.t.Helper()
	now := time.Now().Truncate(time.Second)
	for i := 0; i < len(files); i += 2 {
		path := b.write(files[i], files[i+1])
		when := now.Add(-time.Duration(i) * time.Minute)
		if err := os.Chtimes(path, when, when); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestGlobListsTheNewestFirst(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		b.tree("b.go", "", "sub/a.go", "", "a.go", "", "sub/deep/c.go", "", "sub/x.txt", "", ".hidden.go", "", ".github/ci.yml", "", "log/app.log", "", ".gitignore", "log/\n")
		b.write(".git/HEAD", "ref: refs/heads/main\n")
		symlink(t, "a.go", filepath.Join(b.root, "link.go"))
		symlink(t, "sub", filepath.Join(b.root, "linked"))
		for _, c := range []struct{ pattern, path, want string }{
			{"*.go", "", "b.go sub/a.go a.go sub/deep/c.go"},
			{"**/*.go", "", "b.go sub/a.go a.go sub/deep/c.go"},
			{"./*.go", "", "b.go a.go"},
			{"sub/*", "", "sub/a.go sub/x.txt"},
			{"sub/**", "", "sub/a.go sub/deep/c.go sub/x.txt"},
			{"sub/*/*.go", "", "sub/deep/c.go"},
			{"*.{go,txt}", "sub", "a.go deep/c.go x.txt"},
			{"[bc].go", "", "b.go sub/deep/c.go"},
			{"b.go", "", "b.go"},
			{"sub/a.go", "", "sub/a.go"},
			{".github/*", "", ".github/ci.yml"},
			{"log/*", "", "log/app.log"},
			{filepath.Join(b.root, "sub/*.go"), "", filepath.Join(b.root, "sub/a.go")},
			{"*.rs", "", "[Nothing was found.]"},
			{"*", "", "b.go sub/a.go a.go sub/deep/c.go sub/x.txt"},
		} {
			got := strings.ReplaceAll(b.ok("Glob", in{"pattern": c.pattern, "path": c.path}), "\n", " ")
			if got != c.want {
				t.Errorf("%s in %q gives %q, want %q", c.pattern, c.path, got, c.want)
			}
		}
		b.fails("Glob", in{"pattern": "[a"}, "not valid")
		b.fails("Glob", in{"pattern": "*", "path": "none"}, "does not exist")
		b.fails("Glob", in{"pattern": "*", "path": "a.go"}, "is a file")
	})
}

func TestGlobAndGrepPage(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		var files []string
		for i := range 7 {
			files = append(files, fmt.Sprintf("f%d.txt", i), "hit\nmiss\nhit\n")
		}
		b.tree(files...)
		for _, c := range []struct {
			tool  string
			input in
			want  string
		}{
			{"Glob", in{"pattern": "*", "limit": 2}, "f0.txt f1.txt [Files 1 to 2 of 7. Go on with offset 2.]"},
			{"Glob", in{"pattern": "*", "limit": 5, "offset": 5}, "f5.txt f6.txt [Files 6 to 7 of 7.]"},
			{"Glob", in{"pattern": "*", "offset": 9}, "[Files: there is nothing behind offset 7.]"},
			{"Grep", in{"pattern": "hit", "limit": 2, "offset": 1}, "f1.txt f2.txt [Files 2 to 3 of 7. Go on with offset 3.]"},
			{"Grep", in{"pattern": "hit", "mode": "count", "limit": 1}, "f0.txt:2 [Files 1 to 1 of 7. Go on with offset 1.]"},
			{"Grep", in{"pattern": "hit", "mode": "content", "limit": 3}, "f0.txt:1:hit f0.txt:3:hit f1.txt:1:hit [Lines 1 to 3. Go on with offset 3.]"},
			{"Grep", in{"pattern": "hit", "mode": "content", "limit": 3, "offset": 12}, "f6.txt:1:hit f6.txt:3:hit [Lines 13 to 14.]"},
			{"Grep", in{"pattern": "hit", "mode": "content", "offset": 14}, "[Lines: there is nothing behind offset 14.]"},
		} {
			if got := strings.ReplaceAll(b.ok(c.tool, c.input), "\n", " "); got != c.want {
				t.Errorf("%v gives %q, want %q", c.input, got, c.want)
			}
		}
	})
}

func TestGrepFindsLines(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		b.tree(
			"a.txt", "Alpha\nbeta\nalphabet\n\nstraße ſ K\n",
			"crlf.txt", "Alpha\r\nbeta\r\n",
			"bom.txt", bom+"Alpha one\n",
			"bad.txt", "al\xffpha\nx\xffy\n",
			"bin", "alpha\x00beta\n",
			"utf16", "\xff\xfea\x00l\x00p\x00h\x00a\x00",
			"sub/last.txt", "no line feed alpha",
			"empty", "",
			"-dash", "-alpha\n",
		)
		for _, c := range []struct {
			input in
			want  string
		}{
			{in{"pattern": "alpha"}, "a.txt utf16 sub/last.txt -dash"},
			{in{"pattern": "ALPHA", "ignore_case": true, "mode": "count"}, "a.txt:2 crlf.txt:1 bom.txt:1 utf16:1 sub/last.txt:1 -dash:1"},
			{in{"pattern": "^Alpha$", "mode": "content"}, "a.txt:1:Alpha crlf.txt:1:Alpha"},
			{in{"pattern": "^Alpha", "mode": "content"}, "a.txt:1:Alpha crlf.txt:1:Alpha bom.txt:1:Alpha one"},
			{in{"pattern": "^$", "mode": "content"}, "a.txt:4:"},
			{in{"pattern": "x.y"}, "[Nothing was found.]"},
			{in{"pattern": "x[^a]y"}, "[Nothing was found.]"},
			{in{"pattern": "stra.e", "mode": "content"}, "a.txt:5:straße ſ K"},
			{in{"pattern": `stra\we`}, "[Nothing was found.]"},
			{in{"pattern": "S+ K", "ignore_case": true, "mode": "content"}, "a.txt:5:straße ſ K"},
			{in{"pattern": `\bbet`, "mode": "content"}, "a.txt:2:beta crlf.txt:2:beta"},
			{in{"pattern": "-alpha", "mode": "content"}, "-dash:1:-alpha"},
			{in{"pattern": "alpha", "glob": "*.txt"}, "a.txt sub/last.txt"},
			{in{"pattern": "alpha", "glob": "sub/*"}, "sub/last.txt"},
			{in{"pattern": "alpha", "path": "sub"}, "last.txt"},
			{in{"pattern": "alpha", "path": "sub/last.txt", "mode": "content"}, "last.txt:1:no line feed alpha"},
			{in{"pattern": "(?i)BETA|nothing", "mode": "count"}, "a.txt:1 crlf.txt:1"},
			{in{"pattern": "l{2,}|(?:be){1,2}?t", "mode": "count"}, "a.txt:2 crlf.txt:1"},
			{in{"pattern": `[[:alpha:]]+\x{df}`}, "a.txt"},
			{in{"pattern": `\p{Ll}\p{Lu}`}, "[Nothing was found.]"},
		} {
			if got := strings.ReplaceAll(b.ok("Grep", c.input), "\n", " "); got != c.want {
				t.Errorf("%v gives %q, want %q", c.input, got, c.want)
			}
		}
		b.fails("Grep", in{"pattern": "(a"}, "not valid RE2")
		b.fails("Grep", in{"pattern": "(?=a)"}, "not valid RE2")
		b.fails("Grep", in{"pattern": `a\nb`}, "line by line")
		b.fails("Grep", in{"pattern": `\Aa`}, "line by line")
		b.fails("Grep", in{"pattern": "a", "path": "bin"}, "binary")
	})
}

func TestGrepShowsContext(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		b.tree("a.txt", "1\n2\nhit\n4\n5\n6\n7\nhit\nhit\n10\n", "b.txt", "hit\n")
		want := "a.txt-2-2\na.txt:3:hit\na.txt-4-4\n--\na.txt-7-7\na.txt:8:hit\na.txt:9:hit\na.txt-10-10\n--\nb.txt:1:hit"
		if got := b.ok("Grep", in{"pattern": "hit", "mode": "content", "context": 1}); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		want = "a.txt-1-1\na.txt-2-2\na.txt:3:hit\na.txt-4-4\na.txt-5-5\na.txt-6-6\na.txt-7-7\na.txt:8:hit\na.txt:9:hit\na.txt-10-10"
		if got := b.ok("Grep", in{"pattern": "hit", "mode": "content", "context": 3, "glob": "a.*"}); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestGrepOfLongLinesAndFilesIsBounded(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		b.tree("long.txt", strings.Repeat("é", 400_000)+"needle\n"+strings.Repeat("x", 3<<20)+"\nneedle\n",
			"many.txt", strings.Repeat("filler line without it\n", 30_000)+"needle\n")
		text := b.ok("Grep", in{"pattern": "needle", "mode": "content"})
		lines := strings.Split(text, "\n")
		if len(lines) != 3 || !strings.HasPrefix(lines[0], "long.txt:1:é") || !strings.Contains(lines[0], "more bytes]") ||
			lines[1] != "long.txt:3:needle" || lines[2] != "many.txt:30001:needle" {
			t.Errorf("%.200q", lines)
		}
		if len(text) > 2000 {
			t.Errorf("%d bytes", len(text))
		}
	})
}

func TestSearchLeavesOutIgnoredFiles(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		b.write(".git/HEAD", "ref: refs/heads/main\n")
		b.write(".git/info/exclude", "excluded.txt\n")
		b.tree("a.txt", "x", "b.log", "x", "keep.log", "x", "build/out.txt", "x", "sub/b.log", "x", "sub/only.txt", "x",
			"sub/deep/only.txt", "x", "excluded.txt", "x", "rg.txt", "x", "ig.txt", "x", ".shown", "x",
			".gitignore", "*.log\n!keep.log\n/build/\n!.shown\nig.txt\n", "sub/.gitignore", "/only.txt\n",
			".rgignore", "rg.txt\n", ".ignore", "!ig.txt\n")
		want := "a.txt keep.log sub/deep/only.txt ig.txt .shown"
		if got := strings.ReplaceAll(b.ok("Glob", in{"pattern": "*"}), "\n", " "); got != want {
			t.Errorf("Glob gives %q, want %q", got, want)
		}
		if got := strings.ReplaceAll(b.ok("Grep", in{"pattern": "x"}), "\n", " "); got != want {
			t.Errorf("Grep gives %q, want %q", got, want)
		}
		// From a folder below, what stands above holds too.
		if got := b.ok("Glob", in{"pattern": "*", "path": "sub"}); got != "deep/only.txt" {
			t.Errorf("below it gives %q", got)
		}
	})
}

// What a user ignores everywhere is not part of the project, and the built-in
// engine does not know it.
func TestSearchDoesNotObeyTheUsersOwnExcludes(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		b.tree("a.txt", "x\n")
		b.write(".git/HEAD", "ref: refs/heads/main\n")
		b.write(filepath.Join(b.out, "git/ignore"), "*.txt\n")
		b.write(filepath.Join(b.out, "rc"), "--glob=!*.txt\n")
		b.env.Environ = append(b.env.Environ, "XDG_CONFIG_HOME="+b.out, "RIPGREP_CONFIG_PATH="+filepath.Join(b.out, "rc"))
		for tool, input := range map[string]in{"Glob": {"pattern": "*"}, "Grep": {"pattern": "x"}} {
			if got := b.ok(tool, input); got != "a.txt" {
				t.Errorf("%s gives %q", tool, got)
			}
		}
	})
}

func TestSearchNeverEntersScorelsOwnFolder(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		home := filepath.Dir(b.reach)
		secret := b.write(filepath.Join(b.reach, "key.txt"), "secret\n")
		b.write(filepath.Join(home, ".ignore"), "!.scorel\n!.*\n")
		b.write(filepath.Join(home, "a.txt"), "secret\n")
		if err := os.Link(secret, filepath.Join(home, "hard.txt")); err != nil {
			t.Fatal(err)
		}
		if got := b.ok("Grep", in{"pattern": "secret", "path": home}); got != "a.txt" {
			t.Errorf("Grep gives %q", got)
		}
		if got := b.ok("Glob", in{"pattern": "key*", "path": home}); got != "[Nothing was found.]" {
			t.Errorf("Glob gives %q", got)
		}
	})
}

func TestSearchWithoutAWorkingRipgrepIsBuiltIn(t *testing.T) {
	b := newBench(t)
	b.tree("a.txt", "alpha\n")
	for name, script := range map[string]string{
		"gone":         "",
		"broken":       "#!/bin/sh\nexit 2\n",
		"killed":       "#!/bin/sh\nprintf 'a.txt\\0'\nkill -KILL $$\n",
		"other output": "#!/bin/sh\nprintf 'no-such-file\\0'\nexit 3\n",
	} {
		b.env.Ripgrep = filepath.Join(b.out, name)
		if script != "" {
			if err := os.WriteFile(b.env.Ripgrep, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.ok("Grep", in{"pattern": "alpha"}); got != "a.txt" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestSearchStopsWithItsContext(t *testing.T) {
	bothEngines(t, func(t *testing.T, b *bench) {
		b.tree("a.txt", "alpha\n")
		for _, tool := range []string{"Glob", "Grep"} {
			p, err := b.prepare(tool, in{"pattern": "alpha"})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := p.Run(ctx, nil); err == nil || !strings.Contains(err.Error(), "cancelled") {
				t.Errorf("%s gives %v", tool, err)
			}
			p.Close()
		}
	})
}

func TestAGlobOfTooManyAlternativesIsRefused(t *testing.T) {
	if _, _, err := nameFilter(strings.Repeat("{a,aa}", 40) + "b"); err == nil || !strings.Contains(err.Error(), "more than 1000 alternatives") {
		t.Errorf("%v", err)
	}
	if keep, _, err := nameFilter("*.{go,ts,js}"); err != nil || !keep("a/b.ts") {
		t.Errorf("a usual glob: %v", err)
	}
}

func TestASearchEndsInTimeInAFolderWithCostlyIgnoreRules(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(".gitignore", strings.Repeat("*a*a*a*a*a*a*a*b\n", 20_000))
	for i := range 300 {
		write(strings.Repeat("a", 200)+strconv.Itoa(i), "")
	}
	files, err := files.New(files.Config{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	s, err := openSearch(searched{files: files}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.root.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { // ends with ctx
		_, _, err := s.list(ctx, nil, 0, func(string) bool { return true })
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the end of the time", err)
		}
	case <-time.After(2 * time.Minute): // all of it would take far longer
		t.Fatal("still searching after the end of the time")
	}
}
