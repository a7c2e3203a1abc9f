package theme

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/engine/config"
	"scorel/internal/platform/disk"
	"scorel/internal/text/spelling"
)

// The themes that are built in. Auto is Dark or Light, as the terminal's background
// is; HighContrast, Deuteranopia (which is for protanopia too) and Tritanopia are each
// one of two in the same way.
const (
	Auto         = "auto"
	Dark         = "dark"
	Light        = "light"
	HighContrast = "high-contrast"
	Deuteranopia = "deuteranopia"
	Tritanopia   = "tritanopia"
	Sixteen      = "16"
	Colourless   = "none"
)

// Bounds of the user's themes.
const (
	maxFile  = 64 << 10 // bytes of a theme; further ones are not read
	maxFiles = 100      // themes that are listed
)

// Options say what a theme is made for.
type Options struct {
	Name    string // built in, or the name of a file in Dir without .toml; empty is Auto
	Dark    bool   // the terminal's background
	Profile colorprofile.Profile
	Plain   bool
	Dir     string // of the user's themes; empty for none
	FS      disk.FS
}

// New makes a theme. It always gives one: the problems, a sentence each, say what it
// does without. A terminal of 16 colours gets the built-in theme for them instead of
// another built-in one, and one without colours the one without.
func New(o Options) (*Theme, []string) {
	if o.FS == nil {
		o.FS = disk.OS()
	}
	if o.Profile == colorprofile.Unknown {
		o.Profile = colorprofile.ANSI
	}
	l, name, dark, mark, problems := o.looks()
	t := &Theme{Name: name, Dark: dark, Plain: o.Plain, Box: box(o.Plain)}
	t.ID = fmt.Sprintf("%s/%t/%s/%t/%x", name, dark, o.Profile, o.Plain, mark)
	for name, style := range stylesOf(t) {
		*style = l[name].style(o.Profile)
	}
	return t, problems
}

// looks finds those of the theme that is wanted, with its name and a number that is
// another for another file.
func (o Options) looks() (l looks, name string, dark bool, mark uint32, problems []string) {
	own := func(name string) (looks, string, bool) {
		switch {
		case name == "" || name == Auto:
			name = Light
			if o.Dark {
				name = Dark
			}
		case name == Dark:
			o.Dark = true
		case name == Light:
			o.Dark = false
		}
		used := name
		switch {
		case o.Profile <= colorprofile.ASCII:
			used = Colourless
		case o.Profile == colorprofile.ANSI && name != Colourless:
			used = Sixteen
		}
		if builtin(name, o.Dark) == nil {
			return nil, name, o.Dark
		}
		switch {
		case used == Sixteen && name == Deuteranopia:
			return colourBlind16("magenta"), name, o.Dark
		case used == Sixteen && name == Tritanopia:
			return colourBlind16("red"), name, o.Dark
		}
		return builtin(used, o.Dark), name, o.Dark
	}
	if l, name, dark = own(o.Name); l != nil {
		return l, name, dark, 0, nil
	}
	data, file, err := o.read()
	if err != nil {
		l, name, dark = own(Auto)
		return l, name, dark, 0, []string{err.Error()}
	}
	hash := fnv.New32a()
	_, _ = hash.Write(data)
	u := userTheme{file: file, base: Auto}
	u.parse(data)
	if u.dark != nil {
		o.Dark = *u.dark
	}
	if l, _, dark = own(u.base); l == nil {
		u.problem(u.baseLine, "%q is not a theme that is built in; base is one of %s", u.base, strings.Join(Builtin(), ", "))
		l, _, dark = own(Auto)
	}
	u.over(l)
	return l, o.Name, dark, hash.Sum32(), u.problems
}

// read returns the file of the wanted theme.
func (o Options) read() (data []byte, file string, err error) {
	if o.Dir == "" || !validName(o.Name) {
		return nil, "", fmt.Errorf("there is no theme %q; choose one of %s", o.Name, strings.Join(Builtin(), ", "))
	}
	file = filepath.Join(o.Dir, o.Name+".toml")
	data, err = disk.ReadEdited(o.FS, file, maxFile)
	if err != nil {
		return nil, "", fmt.Errorf("the theme %q cannot be read, so the built-in one is used: %w", o.Name, err)
	}
	return data, file, nil
}

// validName reports whether a name can be that of a file of the user's.
func validName(name string) bool {
	return name != "" && len(name) <= 64 && name[0] != '.' && strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '.'
	}) < 0
}

// Builtin returns the names of the themes that are built in.
func Builtin() []string {
	return []string{Auto, Dark, Light, HighContrast, Deuteranopia, Tritanopia, Sixteen, Colourless}
}

// List returns the names of all themes, those of the user's folder after the built-in
// ones.
func List(dir string) []string {
	all := Builtin()
	entries, err := fs.Glob(os.DirFS(dir), "*.toml")
	if err != nil || dir == "" {
		return all
	}
	slices.Sort(entries)
	for _, e := range entries {
		if name := strings.TrimSuffix(e, ".toml"); validName(name) && !slices.Contains(all, name) && len(all) < maxFiles {
			all = append(all, name)
		}
	}
	return all
}

// DarkByEnv guesses from the environment whether the background is dark, before the
// terminal has said so. Most are.
func DarkByEnv(getenv func(string) string) bool {
	_, bg, ok := cutLast(getenv("COLORFGBG"), ";")
	return !ok || bg != "7" && bg != "15"
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// stylesOf returns the styles of a theme by their names: those of the fields, with a small
// letter at the beginning.
func stylesOf(t *Theme) map[string]*Style {
	all := map[string]*Style{}
	v := reflect.ValueOf(t).Elem()
	for i := range v.NumField() {
		if s, ok := v.Field(i).Addr().Interface().(*Style); ok {
			name := v.Type().Field(i).Name
			all[strings.ToLower(name[:1])+name[1:]] = s
		}
	}
	return all
}

// userTheme is a file of the user's as it is read.
type userTheme struct {
	file     string
	base     string
	baseLine int
	dark     *bool
	set      []config.Leaf // styles.NAME.WHAT
	problems []string
}

func (u *userTheme) problem(line int, format string, args ...any) {
	u.problems = append(u.problems, fmt.Sprintf(format, args...)+fmt.Sprintf(" (%s:%d)", u.file, line))
}

func (u *userTheme) parse(data []byte) {
	leaves, err := config.Leaves(config.File{Name: u.file, Data: data})
	if err != nil {
		u.problems = append(u.problems, err.Error())
		return
	}
	for _, l := range leaves {
		switch {
		case len(l.Path) == 1 && l.Path[0] == "base":
			text, ok := l.Value.(string)
			if !ok {
				u.problem(l.Line, "base is the name of a theme that is built in")
				continue
			}
			u.base, u.baseLine = text, l.Line
		case len(l.Path) == 1 && l.Path[0] == "dark":
			b, ok := l.Value.(bool)
			if !ok {
				u.problem(l.Line, "dark is true or false")
				continue
			}
			u.dark = &b
		case len(l.Path) == 3 && l.Path[0] == "styles":
			u.set = append(u.set, l)
		default:
			u.problem(l.Line, "a theme has no %q; it has base, dark and [styles], such as heading = { fg = \"#ffaa00\", bold = true }", strings.Join(l.Path, "."))
		}
	}
}

// over sets what the file says.
func (u *userTheme) over(l looks) {
	known := stylesOf(&Theme{})
	for _, e := range u.set {
		name, what := e.Path[1], e.Path[2]
		if known[name] == nil {
			u.problem(e.Line, "there is no style %q%s", name, meant(name, known))
			continue
		}
		s := l[name]
		on, isBool := e.Value.(bool)
		text, isText := e.Value.(string)
		switch what {
		case "fg", "bg":
			if n, ok := e.Value.(int64); ok {
				text, isText = fmt.Sprint(n), true
			}
			if _, err := parseColor(text); !isText || err != nil {
				if err == nil {
					err = fmt.Errorf("a colour is a text or a number")
				}
				u.problem(e.Line, "%s of %s: %v", what, name, err)
				continue
			}
			if what == "fg" {
				s.fg = text
			} else {
				s.bg = text
			}
		case "bold", "faint", "italic", "underline", "reverse", "strike":
			if !isBool {
				u.problem(e.Line, "%s of %s is true or false", what, name)
				continue
			}
			switch what {
			case "bold":
				s.bold = on
			case "faint":
				s.faint = on
			case "italic":
				s.italic = on
			case "underline":
				s.underline = on
			case "reverse":
				s.reverse = on
			case "strike":
				s.struck = on
			}
		default:
			u.problem(e.Line, "the style %s has no %q; it has fg, bg, bold, faint, italic, underline, reverse and strike", name, what)
			continue
		}
		l[name] = s
	}
}

// meant says which style may have been meant.
func meant(name string, known map[string]*Style) string {
	best, least := "", 3
	for _, other := range slices.Sorted(maps.Keys(known)) {
		if d := spelling.Distance(strings.ToLower(name), strings.ToLower(other)); d < least {
			best, least = other, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; perhaps %q", best)
}

// box returns what frames are drawn with.
func box(plain bool) Box {
	if plain {
		return Box{
			Horizontal: "-", Vertical: "|", TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
			Bar: ">", Bullet: "*", Arrow: ">", Check: "ok", Cross: "x", Dot: "*", Ellipsis: "...",
			Folded: "+", Unfolded: "-", BarFull: "#", BarEmpty: ".",
			Branch: "|- ", LastBranch: "`- ", Trunk: "|  ", Spinner: []string{"*"},
		}
	}
	return Box{
		Horizontal: "─", Vertical: "│", TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
		Bar: "▎", Bullet: "•", Arrow: "❯", Check: "✓", Cross: "✗", Dot: "●", Ellipsis: "…",
		Folded: "▸", Unfolded: "▾", BarFull: "█", BarEmpty: "░",
		Branch: "├─ ", LastBranch: "└─ ", Trunk: "│  ",
		Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
	}
}
