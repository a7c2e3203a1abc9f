package theme

import (
	"flag"
	"image/color"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

var update = flag.Bool("update", false, "write the list of docs/themes.md anew")

// contrast is that of WCAG 2: 1 for none, 21 for black on white.
func contrast(a, b color.Color) float64 {
	light := func(c color.Color) float64 {
		r, g, b, _ := c.RGBA()
		l := 0.0
		for _, x := range []struct{ v, weight float64 }{{float64(r), 0.2126}, {float64(g), 0.7152}, {float64(b), 0.0722}} {
			v := x.v / 0xffff
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			l += v * x.weight
		}
		return l
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func mustColor(t *testing.T, text string) color.Color {
	t.Helper()
	c, err := parseColor(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTextCanBeReadOnUsualBackgrounds computes the contrast of every style that text
// is written in, on the backgrounds that many terminals have, or its own.
func TestTextCanBeReadOnUsualBackgrounds(t *testing.T) {
	backgrounds := map[bool][]string{
		true:  {"#000000", "#0c0c0c", "#1e1e1e", "#282c34", "#002b36", "#1a1b26", "#1e1e2e"},
		false: {"#ffffff", "#fafafa", "#fdf6e3", "#f5f5f5", "#fbf1c7"},
	}
	for _, c := range []struct {
		name  string
		dark  bool
		least float64
	}{{Dark, true, 4.5}, {Light, false, 4.5}, {HighContrast, true, 7}, {HighContrast, false, 7},
		{Deuteranopia, true, 4.5}, {Deuteranopia, false, 4.5}, {Tritanopia, true, 4.5}, {Tritanopia, false, 4.5}} {
		for style, l := range builtin(c.name, c.dark) {
			if l.fg == "" || style == "border" || style == "rule" {
				continue
			}
			on := backgrounds[c.dark]
			if l.bg != "" {
				on = []string{l.bg}
			}
			for _, bg := range on {
				if got := contrast(mustColor(t, l.fg), mustColor(t, bg)); got < c.least {
					t.Errorf("%s, dark %t: %s is %s on %s, a contrast of %.2f, want %.1f", c.name, c.dark, style, l.fg, bg, got, c.least)
				}
			}
		}
	}
}

func TestEveryStyleOfABuiltInThemeIsOneOfTheTheme(t *testing.T) {
	known := stylesOf(&Theme{})
	for _, name := range []string{Dark, Light, HighContrast, Deuteranopia, Tritanopia, Sixteen, Colourless} {
		for _, dark := range []bool{true, false} {
			l := builtin(name, dark)
			for style := range l {
				if known[style] == nil {
					t.Errorf("%s: there is no style %s", name, style)
				}
			}
			for style := range known {
				if _, ok := l[style]; !ok && name != Colourless {
					t.Errorf("%s: it has no %s", name, style)
				}
			}
		}
	}
}

func TestWhatMustBeToldApartLooksDifferentWithoutColours(t *testing.T) {
	th, problems := New(Options{Name: Dark, Profile: colorprofile.ASCII})
	if len(problems) > 0 {
		t.Error(problems)
	}
	for _, pair := range [][2]Style{{th.Added, th.Removed}, {th.Added, th.Context}, {th.Removed, th.Context}, {th.Selected, th.Text},
		{th.Match, th.Text}, {th.Cursor, th.Text}, {th.ToolOK, th.ToolFailed}, {th.ModeBypass, th.ModeEdits}, {th.Chip, th.Text}} {
		if pair[0] == pair[1] {
			t.Errorf("%q twice", pair[0])
		}
	}
	for name, s := range stylesOf(th) {
		for arg := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(string(*s), "\x1b["), "m"), ";") {
			if !slices.Contains([]string{"", "1", "4", "7"}, arg) {
				t.Errorf("%s is %q", name, string(*s))
			}
		}
	}
}

func TestColoursAreThoseThatTheTerminalHas(t *testing.T) {
	for profile, want := range map[colorprofile.Profile]Style{
		colorprofile.TrueColor: "\x1b[1;38;2;138;180;248m",
		colorprofile.ANSI256:   "\x1b[1;38;5;111m",
		colorprofile.ANSI:      "\x1b[1;36m",
		colorprofile.ASCII:     "\x1b[1m",
		colorprofile.NoTTY:     "\x1b[1m",
	} {
		th, _ := New(Options{Name: Dark, Dark: true, Profile: profile})
		if th.UserMark != want {
			t.Errorf("%s: %q, want %q", profile, string(th.UserMark), string(want))
		}
	}
}

func TestGreysAreGreyAndWhatIsRemovedIsRedWith256Colours(t *testing.T) {
	for name, grey := range map[string]string{Dark: "247", Light: "241"} {
		th, _ := New(Options{Name: name, Dark: name == Dark, Profile: colorprofile.ANSI256})
		if want := Style("\x1b[38;5;" + grey + "m"); th.Dim != want {
			t.Errorf("%s: dim is %q, not %q", name, string(th.Dim), string(want))
		}
	}
	th, _ := New(Options{Name: Dark, Dark: true, Profile: colorprofile.ANSI256})
	if !strings.HasSuffix(string(th.Removed), ";48;5;52m") || !strings.HasSuffix(string(th.RemovedWord), ";48;5;88m") {
		t.Errorf("removed is %q with words %q", string(th.Removed), string(th.RemovedWord))
	}
}

func TestTheThemeFollowsTheBackground(t *testing.T) {
	for _, name := range []string{"", Auto, HighContrast, Deuteranopia, Tritanopia} {
		dark, _ := New(Options{Name: name, Dark: true, Profile: colorprofile.TrueColor})
		light, _ := New(Options{Name: name, Profile: colorprofile.TrueColor})
		if !dark.Dark || light.Dark || dark.Dim == light.Dim || dark.ID == light.ID {
			t.Errorf("%q: %+v and %+v", name, dark.ID, light.ID)
		}
	}
	chosen, _ := New(Options{Name: Light, Dark: true, Profile: colorprofile.TrueColor})
	if chosen.Dark || chosen.Name != Light {
		t.Errorf("%s, dark %t", chosen.Name, chosen.Dark)
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name+".toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAFileOfTheUserChangesStylesOfABuiltInTheme(t *testing.T) {
	dir := write(t, "mine", "base = \"light\"\n[styles]\nheading = { fg = \"#ff0000\", bold = false, underline = true }\nadded.bg = 22\nstatusLine = { fg = \"bright-blue\" }\n")
	th, problems := New(Options{Name: "mine", Dark: true, Profile: colorprofile.TrueColor, Dir: dir})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	light, _ := New(Options{Name: Light, Profile: colorprofile.TrueColor})
	if th.Name != "mine" || th.Dark || th.Dim != light.Dim {
		t.Errorf("%s, dark %t, %q", th.Name, th.Dark, string(th.Dim))
	}
	if th.Heading != "\x1b[4;38;2;255;0;0m" || th.Added != "\x1b[38;2;17;64;31;48;5;22m" || th.StatusLine != "\x1b[94m" {
		t.Errorf("%q %q %q", string(th.Heading), string(th.Added), string(th.StatusLine))
	}
	other, _ := New(Options{Name: "mine", Profile: colorprofile.TrueColor, Dir: write(t, "mine", "base = \"light\"\n")})
	if other.ID == th.ID {
		t.Errorf("two files have one ID %s", th.ID)
	}
}

func TestWhatIsWrongInAFileIsToldWithItsLineAndTheRestCounts(t *testing.T) {
	dir := write(t, "mine", `base = "darkish"
colour = "red"
[styles]
headin = { fg = "#ff0000" }
dim = { fg = "#ff00" }
link = { bold = "yes", blink = true }
error = { fg = "red" }
`)
	th, problems := New(Options{Name: "mine", Dark: true, Profile: colorprofile.TrueColor, Dir: dir})
	file := filepath.Join(dir, "mine.toml")
	want := []string{
		"a theme has no \"colour\"; it has base, dark and [styles], such as heading = { fg = \"#ffaa00\", bold = true } (" + file + ":2)",
		"\"darkish\" is not a theme that is built in; base is one of auto, dark, light, high-contrast, deuteranopia, tritanopia, 16, none (" + file + ":1)",
		"there is no style \"headin\"; perhaps \"heading\" (" + file + ":4)",
		"fg of dim: \"#ff00\" is not a colour; write #rrggbb, a number from 0 to 255, default, or a name such as red or bright-blue (" + file + ":5)",
		"the style link has no \"blink\"; it has fg, bg, bold, faint, italic, underline, reverse and strike (" + file + ":6)",
		"bold of link is true or false (" + file + ":6)",
	}
	if !slices.Equal(problems, want) {
		t.Errorf("%s\nwant:\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
	if th.Error != "\x1b[31m" {
		t.Errorf("%q", string(th.Error))
	}
}

func TestAThemeThatCannotBeReadIsTheBuiltInOne(t *testing.T) {
	for name, want := range map[string]string{
		"missing":   `the theme "missing" cannot be read`,
		"../escape": `there is no theme "../escape"; choose one of auto`,
		"broken":    "is not valid TOML",
	} {
		th, problems := New(Options{Name: name, Dark: true, Profile: colorprofile.TrueColor, Dir: write(t, "broken", "[styles\n")})
		if len(problems) != 1 || !strings.Contains(problems[0], want) || strings.Contains(problems[0], "\n") {
			t.Errorf("%s: %q", name, problems)
		}
		dark, _ := New(Options{Name: Dark, Profile: colorprofile.TrueColor})
		if th.Dim != dark.Dim {
			t.Errorf("%s: %q", name, string(th.Dim))
		}
	}
}

func TestPlainThemesDrawNoBoxesAndNothingMoves(t *testing.T) {
	th, _ := New(Options{Plain: true, Profile: colorprofile.TrueColor})
	b := th.Box
	for _, s := range append([]string{b.Horizontal, b.Vertical, b.TopLeft, b.TopRight, b.BottomLeft, b.BottomRight, b.Bar, b.Bullet, b.Arrow, b.Check,
		b.Cross, b.Dot, b.Ellipsis, b.Folded, b.Unfolded, b.BarFull, b.BarEmpty, b.Branch, b.LastBranch, b.Trunk}, b.Spinner...) {
		if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r > '~' }) {
			t.Errorf("%q", s)
		}
	}
	if len(b.Spinner) != 1 {
		t.Errorf("the spinner has %d pictures", len(b.Spinner))
	}
}

func TestThemesOfTheUserAreListedAfterTheBuiltInOnes(t *testing.T) {
	dir := write(t, "b-mine", "")
	for _, name := range []string{"a-mine.toml", "dark.toml", "readme.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := List(dir), append(Builtin(), "a-mine", "b-mine"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := List(""); !slices.Equal(got, Builtin()) {
		t.Error(got)
	}
}

func TestTheBackgroundIsGuessedFromTheEnvironment(t *testing.T) {
	for value, want := range map[string]bool{"": true, "15;0": true, "0;15": false, "0;default;7": false, "x": true} {
		if got := DarkByEnv(func(string) string { return value }); got != want {
			t.Errorf("%q: dark %t", value, got)
		}
	}
}

// TestTheDocumentedStylesAreThoseOfATheme compares the list of docs/themes.md.
func TestTheDocumentedStylesAreThoseOfATheme(t *testing.T) {
	const page = "../../../../docs/themes.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), "<!-- styles -->")
	_, after, ok := strings.Cut(rest, "<!-- /styles -->")
	if !ok {
		t.Fatal("the page has no place for the list")
	}
	names := slices.Sorted(maps.Keys(stylesOf(&Theme{})))
	want := before + "<!-- styles -->\n`" + strings.Join(names, "`, `") + "`\n<!-- /styles -->" + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !*update && string(data) != want {
		t.Error("the list is not that of the styles; run go test ./internal/ui/tui/theme -update")
	}
}
