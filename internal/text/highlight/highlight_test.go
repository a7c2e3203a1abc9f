package highlight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"scorel/internal/text/style"
	"scorel/internal/ui/tui/golden"
)

// names are the languages by their canonical names.
const names = "go python javascript typescript json yaml toml bash sql html css c cpp csharp java kotlin scala rust ruby php swift dart zig lua perl r elixir haskell powershell markdown diff dockerfile makefile protobuf graphql hcl nix vim"

// marks is a theme whose styles are read in a golden file: 1 for keywords, and so on.
func marks() *style.Theme {
	return &style.Theme{Keyword: "\x1b[1m", String: "\x1b[2m", Number: "\x1b[3m", Comment: "\x1b[4m", Function: "\x1b[5m", Type: "\x1b[6m", Operator: "\x1b[7m",
		Added: "\x1b[8m", Removed: "\x1b[9m", Hunk: "\x1b[10m", Heading: "\x1b[11m"}
}

// readable writes the styles of marks as letters in braces.
func readable(line string) string {
	return strings.NewReplacer("\x1b[1m", "{k ", "\x1b[2m", "{s ", "\x1b[3m", "{n ", "\x1b[4m", "{c ", "\x1b[5m", "{f ", "\x1b[6m", "{t ", "\x1b[7m", "{o ",
		"\x1b[8m", "{+ ", "\x1b[9m", "{- ", "\x1b[10m", "{@ ", "\x1b[11m", "{h ", "\x1b[m", "}").Replace(line)
}

func TestSourceIsColouredAsItShouldBe(t *testing.T) {
	files, err := filepath.Glob("testdata/*.src")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	th := marks()
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		l, st := ForFile(strings.TrimSuffix(filepath.Base(file), ".src")), State(0)
		if l == nil {
			t.Fatalf("no language for %s", file)
		}
		var b strings.Builder
		for line := range strings.Lines(strings.ReplaceAll(string(src), "\t", "    ")) {
			line, st = l.Line(th, "", strings.TrimSuffix(line, "\n"), st)
			b.WriteString(readable(line) + "\n")
		}
		golden.File(t, strings.TrimSuffix(filepath.Base(file), ".src"), b.String())
	}
}

func TestEveryLanguageIsFoundByItsNameAndMade(t *testing.T) {
	for name := range strings.FieldsSeq(names) {
		if canonical(name) != name || Find(name) == nil {
			t.Errorf("%s is not found", name)
		}
	}
	for path, want := range map[string]string{"a/b/main.go": "go", "Makefile": "makefile", "Dockerfile.dev": "dockerfile", "x.TSX": "typescript", "go.mod": "go", ".env": "toml", "Gemfile": "ruby"} {
		if ForFile(path) != Find(want) || Find(want) == nil {
			t.Errorf("%s is no %s", path, want)
		}
	}
	for _, name := range []string{"", "nosuch", strings.Repeat("x", 1000), "data", "recipe"} {
		if Find(name) != nil {
			t.Errorf("%.20s is a language", name)
		}
	}
	if ForFile("README") != nil || ForFile("") != nil {
		t.Error("a file without an ending has a language")
	}
}

func FuzzScanGivesTheWholeLine(f *testing.F) {
	for _, s := range []string{"a := \"x\\", "/* a", "*/ b", "<!-- <a href='", "'''", "key: \"v", "[a]=", "\\", "#", "0x1e+5", "日本\"語", "--[[", "=begin", "<", "</", "|", "\"\\世", "x世: 1", "'x" + strings.Repeat("世", maxLine)} {
		f.Add(s, uint8(0))
	}
	all := strings.Fields(names)
	f.Fuzz(func(t *testing.T, line string, st uint8) {
		for _, name := range all {
			l, n, last := Find(name), 0, Plain
			l.Scan(line, State(st), func(k int, c Class) {
				if k < 0 {
					t.Fatalf("%s: a piece of %d bytes", name, k)
				}
				if k > 0 && c != last && utf8.ValidString(line) && !utf8.RuneStart(line[n]) {
					t.Fatalf("%s: a piece begins within a character of %q", name, line)
				}
				n, last = n+k, c
			})
			if n != len(line) {
				t.Fatalf("%s: %d bytes of %d of %q", name, n, len(line), line)
			}
		}
	})
}

func TestALineThatIsTooLongIsColouredAtItsBeginning(t *testing.T) {
	line := strings.Repeat("return 1 ", 2000)
	got, _ := Find("go").Line(marks(), "", line, 0)
	if strings.Count(got, "\x1b[1m") < 10 || strings.Count(got, "\x1b[1m") > maxLine/9+1 {
		t.Errorf("%d words are coloured", strings.Count(got, "\x1b[1m"))
	}
	if !strings.HasSuffix(got, " return 1 ") {
		t.Errorf("the end is %q", got[len(got)-40:])
	}
}

func BenchmarkGo200KB(b *testing.B) {
	l, th := Find("go"), marks()
	lines := strings.Split(strings.Repeat("    if err := run(ctx, \"name\", 12); err != nil { // why\n", 3500), "\n")
	b.ReportAllocs()
	for b.Loop() {
		st := State(0)
		for _, line := range lines {
			_, st = l.Line(th, "", line, st)
		}
	}
}
