package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/charmbracelet/colorprofile"

	"scorel/internal/text/cell"
	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/theme"
)

const before = `package main

import "errors"

func load(dir string) error {
	cfg := read(dir)
	if cfg == nil {
		return errors.New("no config")
	}
	// one
	// two
	// three
	// four
	// five
	// six
	// seven
	// eight
	// nine
	return run(cfg, dir)
}
`

func after() string {
	s := strings.Replace(before, `errors.New("no config")`, `fmt.Errorf("no config in %s", dir)`, 1)
	s = strings.Replace(s, `import "errors"`, `import "fmt"`, 1)
	s = strings.Replace(s, "	return run(cfg, dir)\n", "	// 世界 and a comment that is so long that it does not fit into a line of forty cells\n	return run(cfg, dir, 1)\n", 1)
	return s
}

// unified makes a diff with so many lines of context.
func unified(t *testing.T, context int) string {
	t.Helper()
	d, err := udiff.ToUnified("a/main.go", "b/main.go", before, udiff.Lines(before, after()), context)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func themed(t *testing.T, o theme.Options) *theme.Theme {
	t.Helper()
	th, problems := theme.New(o)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return th
}

func TestADiffLooksAsItShould(t *testing.T) {
	for name, o := range map[string]theme.Options{
		"dark":  {Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor},
		"light": {Name: theme.Light, Profile: colorprofile.TrueColor},
		"ansi":  {Name: theme.Sixteen, Profile: colorprofile.ANSI},
		"plain": {Name: theme.Colourless, Plain: true, Profile: colorprofile.ASCII},
	} {
		th := themed(t, o)
		for _, width := range []int{40, 80, 120, 150} {
			lines := Lines(th, unified(t, 20), Options{Width: width})
			golden.Lines(t, lines, width)
			golden.File(t, fmt.Sprintf("%s-%d", name, width), strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b", "␛")+"\n")
		}
	}
}

func TestWhatIsAnotherInALineIsMarked(t *testing.T) {
	a, b := "return foo(x, 1)", "return foo(y, 2)"
	am, bm := wordMarks(a, b)
	words := func(s string, marks []mark) (out []string) {
		for _, m := range marks {
			out = append(out, s[m.from:m.to])
		}
		return out
	}
	if got := fmt.Sprint(words(a, am), words(b, bm)); got != "[x 1] [y 2]" {
		t.Errorf("marked: %s", got)
	}
	if am, bm := wordMarks("one thing", "quite another matter"); am != nil || bm != nil {
		t.Error("lines that have nothing in common are marked")
	}
	if am, _ := wordMarks(strings.Repeat("a ", maxWords), "a"); am != nil {
		t.Error("a line of too many words is compared")
	}
}

func TestLinesHaveTheNumbersOfTheirFiles(t *testing.T) {
	p := parse("--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@\n a\n-b\n+c\n+d\n e\n@@ -20 +21 @@ func f\n-x\n+--- y\n")
	var got []string
	for _, l := range p.lines {
		got = append(got, fmt.Sprintf("%c%d/%d %s", l.op, l.old, l.new, l.text))
	}
	want := "f0/0 x|@0/0 @@ -3,3 +3,4 @@| 3/3 a|-4/0 b|+0/4 c|+0/5 d| 5/6 e|@0/0 @@ -20 +21 @@ func f|-20/0 x|+0/21 --- y"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if plus, minus := Stat("@@ -1 +1,2 @@\n-a\n+b\n+c\n"); plus != 2 || minus != 1 {
		t.Errorf("+%d -%d", plus, minus)
	}
}

func TestWhatIsLeftOutIsCounted(t *testing.T) {
	th := themed(t, theme.Options{Name: theme.Colourless, Profile: colorprofile.ASCII})
	var b strings.Builder
	b.WriteString("@@ -0,0 +1,100 @@\n")
	for i := range 100 {
		fmt.Fprintf(&b, "+line %d\n", i)
	}
	lines := Lines(th, b.String(), Options{Width: 80, Lines: 10})
	if len(lines) != 10 || !strings.Contains(lines[9], "91 more lines") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	var same strings.Builder
	same.WriteString("@@ -1,101 +1,101 @@\n")
	for i := range 100 {
		fmt.Fprintf(&same, " line %d\n", i)
	}
	lines = Lines(th, same.String()+"-a\n+b\n", Options{Width: 80})
	if len(lines) != 6 || !strings.Contains(lines[0], "97 unchanged lines") {
		t.Errorf("%q", lines)
	}
	huge := Lines(th, "@@ -0,0 +1,99999 @@\n"+strings.Repeat("+x\n", 99999), Options{Width: 80})
	if len(huge) > maxLines+1 || !strings.Contains(huge[len(huge)-1], "more lines") {
		t.Errorf("%d lines", len(huge))
	}
}

func FuzzLines(f *testing.F) {
	for _, s := range []string{"--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", "@@ -1,9999999999 +1 @@\n", "@@ -1 +1 @@\n-\x1b[31ma\n+\x1b]0;t\x07b\u202e\n", "\\ No newline\n", "+++ \x1b[2J\n", "no diff at all\n\xff\x00", "@@ - + @@", "@@ -a +b @@\n 世界\n"} {
		f.Add(s, 40, false)
		f.Add(s, 150, true)
	}
	th, problems := theme.New(theme.Options{Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor})
	if len(problems) > 0 {
		f.Fatal(problems)
	}
	f.Fuzz(func(t *testing.T, text string, width int, few bool) {
		o := Options{Width: 1 + max(width, -width)%200, Heads: few}
		if o.Width <= 0 {
			o.Width = 1
		}
		if few {
			o.Lines = 5
		}
		lines := Lines(th, text, o)
		if few && len(lines) > 5 {
			t.Fatalf("%d lines", len(lines))
		}
		for _, l := range lines {
			if problem := golden.Foreign(l); problem != "" {
				t.Fatalf("a line %s: %q", problem, l)
			}
			if cell.Width(l) > o.Width && o.Width > 4 {
				t.Fatalf("a line of %d cells, at most %d: %q", cell.Width(l), o.Width, l)
			}
		}
	})
}
