package prefs

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/platform/disk"
	"scorel/internal/platform/disk/disktest"
)

func write(t *testing.T, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(Path(dir), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func texts(problems []Problem) (out []string) {
	for _, p := range problems {
		out = append(out, p.Text)
	}
	return out
}

func TestSettingsAreReadAndWhatIsWrongIsToldWithItsLine(t *testing.T) {
	if s, problems := Read(t.TempDir()); s != Defaults() || problems != nil {
		t.Errorf("without a file: %+v %v", s, problems)
	}
	dir := write(t, "\ufeff# mine\ntheme = 'solarized'\nscreen = \"wide\"\nvim = true\nbell = \"no\"\ncolour = 1\nwhenBusy = \"steer\"\neditor = \"a\\u001bb\"\n"+
		"[statusLine]\ncommand = \"x\"\nrefreshSeconds = 9999\npadding = 2\nfont = 1\n[other]\nkey = 1\n")
	s, problems := Read(dir)
	want := Defaults()
	want.Theme, want.Vim, want.WhenBusy = "solarized", true, "steer"
	want.StatusLine = StatusLine{Command: "x", Padding: 2}
	if s != want {
		t.Errorf("settings are %+v, want %+v", s, want)
	}
	name := Path(dir)
	wantProblems := []string{
		"the setting screen must be inline or full (" + name + ":3)",
		"the setting bell must be true or false (" + name + ":5)",
		"there is no setting colour (" + name + ":6)",
		"the setting editor must be a text on one line (" + name + ":8)",
		"the setting statusLine.refreshSeconds must be a number from 0 to 3600 (" + name + ":11)",
		"there is no setting statusLine.font (" + name + ":13)",
		"there is no table other of settings (" + name + ":14)",
	}
	if got := texts(problems); !slices.Equal(got, wantProblems) {
		t.Errorf("the problems are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantProblems, "\n"))
	}
	if problems[0].Line != 3 {
		t.Errorf("the line is %d", problems[0].Line)
	}
	// Inline tables and dotted keys are tables too.
	s, problems = Read(write(t, "statusLine = { command = \"y\", padding = 1 }\n"))
	if s.StatusLine.Command != "y" || s.StatusLine.Padding != 1 || problems != nil {
		t.Errorf("an inline table: %+v %v", s, problems)
	}
	s, problems = Read(write(t, "statusLine.command = \"y\"\n[[statusLine2]]\n"))
	if s.StatusLine.Command != "y" || len(problems) != 1 {
		t.Errorf("a dotted key: %+v %v", s, problems)
	}
	for _, broken := range []string{"theme = ", "theme = 'a'\ntheme = 'b'", strings.Repeat("# x\n", maxSettings/4+1), "statusLine = 1\nx"} {
		if s, problems := Read(write(t, broken)); s != Defaults() || len(problems) != 1 {
			t.Errorf("%.20q: %+v %v", broken, s, problems)
		}
	}
	if s, problems := Read(write(t, "statusLine = 1\nvim = true")); !s.Vim || len(problems) != 1 || !strings.Contains(problems[0].Text, "there is no setting statusLine (") {
		t.Errorf("a table that is a number: %+v %v", s, problems)
	}
}

func TestSettingOneLeavesAllElseAsItIs(t *testing.T) {
	for _, c := range []struct{ old, key, value, want string }{
		{"", "vim", "on", "vim = true\n"},
		{"", "statusLine.command", "~/bin/status --x", "[statusLine]\ncommand = \"~/bin/status --x\"\n"},
		{"# my\nvim = true # yes\nbell=false", "vim", "false", "# my\nvim = false # yes\nbell=false"},
		{"# my\nvim = true # yes\nbell=false", "theme", "dark", "# my\nvim = true # yes\nbell=false\ntheme = \"dark\"\n"},
		{"theme = 'a \"b\"' # c", "theme", "x\\y", "theme = \"x\\\\y\" # c"},
		{"vim = true\n\n# the status line\n[statusLine]\ncommand = \"x\"\n", "mouse", "yes", "vim = true\n\nmouse = true\n\n# the status line\n[statusLine]\ncommand = \"x\"\n"},
		{"[statusLine]\ncommand = \"x\" # keep\n", "statusLine.padding", "3", "[statusLine]\npadding = 3\ncommand = \"x\" # keep\n"},
		{"[statusLine]", "statusLine.padding", "3", "[statusLine]\npadding = 3\n"},
		{"statusLine.command = \"x\"\n", "statusLine.command", "y", "statusLine.command = \"y\"\n"},
		{"statusLine = { command = \"x\", padding = 1 }\n", "statusLine.padding", "0", "statusLine = { command = \"x\", padding = 0 }\n"},
		{"unknown = 1\nvim = 'wrong'\n", "vim", "true", "unknown = 1\nvim = true\n"},
		{"\"theme\" = 'a'\n", "theme", "b", "\"theme\" = \"b\"\n"},
		{"\ufeffvim = true\n", "vim", "no", "\ufeffvim = false\n"},
		{"editor = \"\"\"\nx\"\"\"\n", "editor", "", "editor = \"\"\n"},
	} {
		dir := write(t, c.old)
		if err := Set(disk.OS(), dir, c.key, c.value); err != nil {
			t.Errorf("%q, %s = %s: %v", c.old, c.key, c.value, err)
			continue
		}
		got, err := os.ReadFile(Path(dir))
		if err != nil || string(got) != c.want {
			t.Errorf("%q, %s = %s: %q, want %q (%v)", c.old, c.key, c.value, got, c.want, err)
		}
		if info, err := os.Stat(Path(dir)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("its mode is %v (%v)", info.Mode(), err)
		}
	}
}

func TestASettingThatCannotBeIsRefusedAndChangesNothing(t *testing.T) {
	for _, c := range []struct{ old, key, value, want string }{
		{"vim = true\n", "colour", "red", "there is no setting colour"},
		{"vim = true\n", "vim", "perhaps", "the setting vim must be true or false"},
		{"vim = true\n", "screen", "wide", "the setting screen must be inline or full"},
		{"vim = true\n", "statusLine.padding", "21", "the setting statusLine.padding must be a number from 0 to 20"},
		{"vim = true\n", "theme", "a\nb", "the setting theme must be a text on one line"},
		{"vim = \n", "vim", "true", "is not valid TOML; correct it by hand"},
		{"statusLine = { command = \"x\" }\n", "statusLine.padding", "1", "cannot be changed from here; set statusLine.padding in it by hand"},
	} {
		dir := write(t, c.old)
		if err := Set(disk.OS(), dir, c.key, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %s = %s: %v", c.old, c.key, c.value, err)
		}
		if got, _ := os.ReadFile(Path(dir)); string(got) != c.old {
			t.Errorf("%q became %q", c.old, got)
		}
	}
	mem := disktest.NewMem()
	if err := mem.MkdirAll("/h"); err != nil {
		t.Fatal(err)
	}
	mem.Put("/h/tui.toml", []byte("vim = true\n"))
	for n := 1; ; n++ {
		faulty := &disktest.Faulty{FS: mem, N: n, Err: errors.New("broken")}
		err := Set(faulty, "/h", "vim", "false")
		got := string(mem.Bytes("/h/tui.toml"))
		if !faulty.Fired() {
			if got != "vim = false\n" || err != nil {
				t.Errorf("without a fault: %q %v", got, err)
			}
			return
		}
		if err == nil || got != "vim = true\n" && got != "vim = false\n" {
			t.Errorf("call %d: %q %v", n, got, err)
		}
		mem.Put("/h/tui.toml", []byte("vim = true\n"))
	}
}

func TestEverySettingHasADefaultThatItTakesAndWords(t *testing.T) {
	for _, k := range Keys() {
		if k.Doc == "" {
			t.Errorf("%s has no words", k.Name)
		}
		if _, _, err := k.typed(k.Default); err != nil {
			t.Errorf("%s does not take its default: %v", k.Name, err)
		}
		for _, choice := range k.Choices {
			dir := t.TempDir()
			if err := Set(disk.OS(), dir, k.Name, choice); err != nil {
				t.Errorf("%s does not take %s: %v", k.Name, choice, err)
			}
			if s, problems := Read(dir); k.Value(s) != choice || problems != nil {
				t.Errorf("%s set to %s is %s (%v)", k.Name, choice, k.Value(s), problems)
			}
		}
	}
}

var update = flag.Bool("update", false, "write the table of docs/typing.md anew")

// TestTheDocumentedSettingsAreThoseThatThereAre compares the table of docs/typing.md.
func TestTheDocumentedSettingsAreThoseThatThereAre(t *testing.T) {
	const page, mark = "../../../../docs/typing.md", "<!-- settings -->\n"
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text, _, found := strings.Cut(string(old), mark)
	if !found {
		t.Fatal("the page has no place for the settings")
	}
	var b strings.Builder
	b.WriteString(text + mark + "\n| setting | values | default | |\n|---|---|---|---|\n")
	for _, k := range Keys() {
		values := k.want()
		if k.Choices != nil {
			values = "`" + strings.Join(k.Choices, "` `") + "`"
		}
		if k.Free {
			values += ", or another name"
		}
		value := k.Default
		if value != "" {
			value = "`" + value + "`"
		}
		b.WriteString("| `" + k.Name + "` | " + values + " | " + value + " | " + k.Doc + " |\n")
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if b.String() != string(old) {
		t.Error("docs/typing.md has other settings; run with -update")
	}
}

func FuzzAnyFileMayStandThere(f *testing.F) {
	f.Add([]byte("vim = true\n[statusLine]\ncommand = 'x'\n"), "vim", "false")
	f.Add([]byte("a.b.c = {d = [1, {e = 2}]}\n[[x]]\n"), "theme", "q\"\\")
	f.Add([]byte("\xef\xbb\xbf# \x1b\n"), "statusLine.command", "é")
	f.Fuzz(func(t *testing.T, data []byte, key, value string) {
		mem := disktest.NewMem()
		if err := mem.MkdirAll("/h"); err != nil {
			t.Fatal(err)
		}
		mem.Put("/h/tui.toml", data)
		before, _, _ := parse("f", data)
		if err := Set(mem, "/h", key, value); err != nil {
			if got := mem.Bytes("/h/tui.toml"); string(got) != string(data) {
				t.Fatalf("refused (%v), and %q became %q", err, data, got)
			}
			return
		}
		after, doc, _ := parse("f", mem.Bytes("/h/tui.toml"))
		i := slices.IndexFunc(Keys(), func(k Key) bool { return k.Name == key })
		typed, _, err := Keys()[i].typed(value)
		if err != nil || doc.broken {
			t.Fatalf("%q was set to %q: %v", key, value, err)
		}
		if err := Keys()[i].take(&before, typed); err != nil || before != after {
			t.Fatalf("setting %s to %q made %+v of %+v (%v)", key, value, after, before, err)
		}
	})
}

func TestTheEditorIsTheSettingElseThatOfTheEnvironment(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		setting string
		env     func(string) string
		want    []string
	}{
		{"", env(), []string{"vi"}},
		{"", env("EDITOR", "nano"), []string{"nano"}},
		{"", env("EDITOR", "nano", "VISUAL", "emacs -nw"), []string{"emacs", "-nw"}},
		{"  ", env("VISUAL", "  ", "EDITOR", "ed"), []string{"ed"}},
		{"hx", env("VISUAL", "emacs"), []string{"hx"}},
		{"code", env(), []string{"code", "--wait"}},
		{"/usr/bin/subl", env(), []string{"/usr/bin/subl", "--wait"}},
		{"code --reuse-window --wait", env(), []string{"code", "--reuse-window", "--wait"}},
		{`"/opt/My Editor/ed" -x 'a b' c\ d`, env(), []string{"/opt/My Editor/ed", "-x", "a b", "c d"}},
		{"vim $(rm -rf /) ; x", env(), []string{"vim", "$(rm", "-rf", "/)", ";", "x"}},
	} {
		got, err := EditorCommand(c.setting, c.env)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q (%v)", c.setting, got, c.want, err)
		}
	}
	for _, bad := range []string{`""`, "vi\x00"} {
		if got, err := EditorCommand(bad, env()); err == nil || !strings.Contains(err.Error(), "the setting editor is not a command line") {
			t.Errorf("%q: %q, %v", bad, got, err)
		}
	}
}

func TestADraftIsWrittenForNobodyElseAndReadBack(t *testing.T) {
	dir := t.TempDir()
	name, remove, err := WriteDraft(dir, "hello\n世界")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{name: 0o600, filepath.Dir(name): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v (%v)", path, info, err)
		}
	}
	for content, want := range map[string]string{
		"hello\n世界":     "hello\n世界",
		"a\r\nb\rc\r\n": "a\nb\nc",
		"\ufeffa\n\n":   "a\n",
		"":              "",
		"\n":            "",
		"bad \xff":      "!the edited file is not UTF-8; the text stays as it was",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadDraft(name)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != want {
			t.Errorf("%q is read as %q, want %q", content, got, want)
		}
	}
	if err := os.WriteFile(name, make([]byte, MaxEdited+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDraft(name); err == nil || !strings.Contains(err.Error(), "more than 4 MB") {
		t.Errorf("a file that is too large: %v", err)
	}
	if err := os.WriteFile(name+"~", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	remove()
	remove()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left is %v (%v)", left, err)
	}
	if _, err := ReadDraft(name); err == nil || err.Error() != "the edited file is gone; the text stays as it was" {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err := ReadDraft(dir); err == nil {
		t.Error("a folder is read")
	}
	if _, _, err := WriteDraft(filepath.Join(dir, "none"), "x"); err == nil {
		t.Error("a draft was written where no folder is")
	}
}

func TestSettingOneInALinkedFileKeepsTheLink(t *testing.T) {
	elsewhere := write(t, "theme = \"dark\"\n")
	for _, target := range []string{Path(elsewhere), filepath.Join(elsewhere, "new.toml")} {
		dir := t.TempDir()
		if err := os.Symlink(target, Path(dir)); err != nil {
			t.Fatal(err)
		}
		if err := Set(disk.OS(), dir, "theme", "light"); err != nil {
			t.Fatal(err)
		}
		if to, err := os.Readlink(Path(dir)); err != nil || to != target {
			t.Errorf("the link leads to %q, %v", to, err)
		}
		if data, err := os.ReadFile(target); err != nil || string(data) != "theme = \"light\"\n" {
			t.Errorf("%s: %q, %v", target, data, err)
		}
	}
}
