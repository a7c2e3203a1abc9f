package tool

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// answers returns what both engines say to a call.
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
// about negated classes, which match a slash in ripgrep, and about two stars that
// do not stand between slashes; there the engines follow ripgrep.
func rules(ripgrep bool) *rapid.Generator[string] {
	parts := []string{"a", "b", "foo", ".h", ".o", "*", "?", "/", "/", "[ab]", "\\[", "a*", "*.o", " "}
	if ripgrep {
		parts = append(parts, "{a,b}", "[!a]", "**")
	}
	part := rapid.SampledFrom(parts)
	return rapid.Custom(func(t *rapid.T) string {
		line := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "")
		for !ripgrep && strings.Contains(line, "**") {
			line = strings.ReplaceAll(line, "**", "*")
		}
		if !ripgrep && rapid.IntRange(0, 3).Draw(t, "stars") == 0 {
			line = rapid.SampledFrom([]string{"**", "**/a", "**/foo/b", "a/**", "a/**/b", "**/*.o", "foo/**/a/*"}).Draw(t, "line")
		}
		if strings.Trim(line, " /") == "" {
			line = "a" // a bare "!" includes everything in ripgrep and nothing in Git
		}
		ends := []string{"", "", "/", " "}
		if bare := strings.TrimRight(line, " /"); !ripgrep && strings.HasSuffix(strings.TrimRight(line, " "), "/") {
			line, ends = bare+"/", ends[:1] // "**//" names every folder in ripgrep and none in Git
		}
		return rapid.SampledFrom([]string{"", "", "!", "/", "!/", "#", "\\!"}).Draw(t, "lead") + line +
			rapid.SampledFrom(ends).Draw(t, "end")
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
			if p.match([]byte(line)) != original.MatchString(line) {
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

func TestABoundaryBeforeTheBeginOfALineIsNotLeftToRipgrep(t *testing.T) {
	rg := engines(t)["ripgrep"]
	b := newBench(t)
	b.write("f", "ab\n-a\n\n -\n")
	for src, want := range map[string]string{
		`\b^`:        "f:1:ab",
		`\B^`:        "f:2:-a\nf:3:\nf:4: -",
		`(\B)^-`:     "f:2:-a",
		`(?:^\B)+ `:  "f:4: -",
		`(?:a|\b)^a`: "f:1:ab",
		`^\ba`:       "f:1:ab",
	} {
		if mine, theirs := answers(b, "Grep", in{"pattern": src, "mode": "content"}, rg); mine != want || theirs != want {
			t.Errorf("%s: built in %q, with ripgrep %q, want %q", src, mine, theirs, want)
		}
	}
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
		files, err := openSearch(searchedIn(b.env.Setting), "")
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
