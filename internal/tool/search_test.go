package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
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
			{in{"pattern": "alpha"}, "a.txt sub/last.txt -dash"},
			{in{"pattern": "ALPHA", "ignore_case": true, "mode": "count"}, "a.txt:2 crlf.txt:1 bom.txt:1 sub/last.txt:1 -dash:1"},
			{in{"pattern": "^Alpha$", "mode": "content"}, "a.txt:1:Alpha crlf.txt:1:Alpha"},
			{in{"pattern": "^Alpha", "mode": "content"}, "a.txt:1:Alpha crlf.txt:1:Alpha bom.txt:1:\ufeffAlpha one"},
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

// answers gives what both engines say to a call.
func answers(b *bench, tool string, input any, rg string) (builtIn, ripgrep string) {
	b.env.Ripgrep = ""
	builtIn, _ = b.run(tool, input)
	b.env.Ripgrep = rg
	ripgrep, _ = b.run(tool, input)
	return builtIn, ripgrep
}

func drawTree(t *rapid.T, b *bench) {
	name := rapid.SampledFrom([]string{"a", "b", "ab", "a.o", "b.o", ".h", "foo", "bar", "foo.c", "[a]", "a b"})
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "names"), "/")
	})
	for _, p := range rapid.SliceOfN(path, 1, 25).Draw(t, "files") {
		full := filepath.Join(b.root, p)
		if os.MkdirAll(filepath.Dir(full), 0o755) != nil {
			continue // a file stands where a folder would
		}
		if info, err := os.Stat(full); err == nil && info.IsDir() {
			continue
		}
		content := rapid.SampledFrom([]string{"", "foo\n", "bar foo\r\nx\n", "\x00foo", "Fo\xffo\nfoo"}).Draw(t, "content")
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// rules draws lines of ignore files. Git and ripgrep do not agree about braces,
// and about negated classes, which match a slash in ripgrep; there the engines
// follow ripgrep.
func rules(ripgrep bool) *rapid.Generator[string] {
	parts := []string{"a", "b", "foo", ".h", ".o", "*", "**", "?", "/", "/", "[ab]", "\\[", "a*", "*.o", " "}
	if ripgrep {
		parts = append(parts, "{a,b}", "[!a]")
	}
	part := rapid.SampledFrom(parts)
	return rapid.Custom(func(t *rapid.T) string {
		line := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "")
		if strings.Trim(line, " /") == "" {
			line = "a" // a bare "!" includes everything in ripgrep and nothing in Git
		}
		return rapid.SampledFrom([]string{"", "", "!", "/", "!/", "#", "\\!"}).Draw(t, "lead") + line +
			rapid.SampledFrom([]string{"", "", "/", " "}).Draw(t, "end")
	})
}

func TestBuiltInSearchAnswersLineByLineAsRipgrep(t *testing.T) {
	rg := engines(t)["ripgrep"]
	if rg == "" {
		return
	}
	ignoreFiles := []string{".gitignore", ".ignore", ".rgignore", "foo/.gitignore", "a/.ignore", ".git/info/exclude", "foo/.git/info/exclude"}
	rapid.Check(t, func(rt *rapid.T) {
		base, err := os.MkdirTemp(t.TempDir(), "tree")
		if err != nil {
			rt.Fatal(err)
		}
		b := benchIn(t, base)
		defer b.env.Files.Close()
		drawTree(rt, b)
		if rapid.Bool().Draw(rt, "repository") {
			b.write(".git/HEAD", "ref: refs/heads/main\n")
		}
		for _, file := range ignoreFiles {
			if !rapid.Bool().Draw(rt, file) {
				continue
			}
			lines := rapid.SliceOfN(rules(true), 1, 4).Draw(rt, "rules")
			full := filepath.Join(b.root, file)
			if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
				_ = os.WriteFile(full, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
			}
		}
		folders := []string{"", "foo", "a"}
		folder := rapid.SampledFrom(folders).Draw(rt, "folder")
		if info, err := os.Stat(filepath.Join(b.root, folder)); err != nil || !info.IsDir() {
			folder = ""
		}
		glob := rapid.SampledFrom([]string{"*", "**/*.o", "a/**", "*/b", "{foo,bar}*"}).Draw(rt, "glob")
		pattern := rapid.SampledFrom([]string{"foo", "^foo$", "fo.", "x|bar", "(?i)fO+", `\bfoo\b`, "^", "$", "[^x]oo"}).Draw(rt, "pattern")
		for _, c := range []struct {
			tool  string
			input in
		}{
			{"Glob", in{"pattern": glob, "path": folder}},
			{"Grep", in{"pattern": pattern, "path": folder, "mode": "content", "context": 1}},
			{"Grep", in{"pattern": pattern, "path": folder, "mode": "count", "glob": glob}},
		} {
			mine, theirs := answers(b, c.tool, c.input, rg)
			if mine != theirs {
				rt.Fatalf("%s %v: built in\n%s\nripgrep\n%s", c.tool, c.input, mine, theirs)
			}
		}
	})
}

// The pattern is rewritten: what Go finds with the original, both engines find.
func TestRewrittenPatternMeansTheSame(t *testing.T) {
	rg := engines(t)["ripgrep"]
	atom := rapid.SampledFrom([]string{"a", "b", "É", "é", "ſ", ".", "[a-cé]", "[^a]", `\w`, `\W`, `\d`, `\s`, `\S`, `\b`, `\B`, "^", "$", `\.`, "-", " ", `[[:upper:]]`, `\pL`, `\x{1F600}`, "(a|b)", "(?i:k)", "(?:)"})
	piece := rapid.Custom(func(t *rapid.T) string {
		return atom.Draw(t, "atom") + rapid.SampledFrom([]string{"", "", "", "*", "+?", "?", "{2}", "{1,3}", "{0,}"}).Draw(t, "times")
	})
	text := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é", "É", "K", "ſ", "1", " ", "-", ".", "😀", "Z", "_", "\t"}), 0, 6)
	base := newBench(t)
	rapid.Check(t, func(rt *rapid.T) {
		src := strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(rt, "pattern"), "")
		if rapid.Bool().Draw(rt, "alternative") {
			src += "|" + piece.Draw(rt, "other")
		}
		fold := rapid.Bool().Draw(rt, "fold")
		original, err := regexp.Compile(map[bool]string{true: "(?i)", false: ""}[fold] + src)
		if err != nil {
			return // twice repeated, for example
		}
		p, err := compilePattern(src, fold)
		if err != nil {
			rt.Fatalf("%q: %v", src, err)
		}
		var lines, want []string
		for i := range 8 {
			line := strings.Join(text.Draw(rt, "line"), "")
			lines = append(lines, line)
			if original.MatchString(line) {
				want = append(want, fmt.Sprintf("f:%d:%s", i+1, line))
			}
			if p.re.MatchString(line) != original.MatchString(line) {
				rt.Fatalf("%q became %q, which differs on %q", src, p.re, line)
			}
		}
		base.write("f", strings.Join(lines, "\n")+"\n")
		mine, theirs := answers(base, "Grep", in{"pattern": src, "ignore_case": fold, "mode": "content"}, rg)
		wanted := strings.Join(want, "\n")
		if len(want) == 0 {
			wanted = "[Nothing was found.]"
		}
		if mine != wanted || theirs != wanted {
			rt.Fatalf("%q (%q): built in %q, ripgrep %q, want %q", src, p.rg, mine, theirs, wanted)
		}
	})
}

func TestBuiltInSearchIgnoresAsGitDoes(t *testing.T) {
	repo := filepath.Join(t.TempDir(), "repo.git")
	git := func(t rapid.TB, dir string, args ...string) string {
		cmd := exec.Command("git", append([]string{"--git-dir=" + repo, "--work-tree=" + dir, "-c", "core.excludesFile=/dev/null"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	git(t, t.TempDir(), "init", "-q")
	rapid.Check(t, func(rt *rapid.T) {
		base, err := os.MkdirTemp(t.TempDir(), "tree")
		if err != nil {
			rt.Fatal(err)
		}
		b := benchIn(t, base)
		defer b.env.Files.Close()
		drawTree(rt, b)
		lines := rapid.SliceOfN(rules(false), 1, 5).Draw(rt, "rules")
		b.write(".gitignore", strings.Join(lines, "\n")+"\n")
		b.write(".git/HEAD", "ref: refs/heads/main\n")
		var want []string
		for name := range strings.SplitSeq(git(rt, b.root, "ls-files", "-z", "--others", "--exclude-standard"), "\x00") {
			want = append(want, name)
		}
		files, err := openSearch(b.env, "")
		if err != nil {
			rt.Fatal(err)
		}
		defer files.root.Close()
		found, _, err := files.list(t.Context(), nil, 0, func(string) bool { return true })
		if err != nil {
			rt.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.rel)
		}
		// Hidden files are left out here and listed by Git; a rule that includes
		// them shows them here too.
		hidden := func(p string) bool { return p == "" || strings.Contains("/"+p, "/.") }
		want, got = slices.DeleteFunc(want, hidden), slices.DeleteFunc(got, hidden)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			j, _ := json.Marshal(lines)
			rt.Fatalf("with %s Git lists %q, we %q", j, want, got)
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
