package keymap

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"scorel/internal/platform/disk"
)

var update = flag.Bool("update", false, "write the table of docs/keys.md anew")

// constants returns the actions that are declared.
func constants(t *testing.T) []Action {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "action.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []Action
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "Action" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, Action(text))
		}
		return true
	})
	return all
}

func TestEveryActionHasWordsAndAKey(t *testing.T) {
	var described []Action
	for _, i := range Infos() {
		described = append(described, i.Action)
		if i.Doc == "" || len(i.Keys) == 0 {
			t.Errorf("%+v", i)
		}
		for _, k := range i.Keys {
			if parsed, err := parse(k); err != nil || parsed != k {
				t.Errorf("%s: the key %q is read as %q, %v", i.Action, k, parsed, err)
			}
		}
	}
	declared := constants(t)
	if len(declared) < 50 || !slices.Equal(declared, described) {
		t.Errorf("declared are %v, described %v", declared, described)
	}
}

func TestNoPlaceHasAKeyTwice(t *testing.T) {
	m := newMap()
	for _, i := range Infos() {
		for _, k := range i.Keys {
			if other, k2 := m.add(i.Action, k); other != "" {
				t.Errorf("%s cannot have %q: %s has %q", i.Action, k, other, k2)
			}
		}
	}
	for key, a := range m.actions[Tree] {
		if other, ok := m.actions[List][key]; ok {
			t.Errorf("%q is %s, and %s in the list", key, a, other)
		}
	}
}

func TestTheEditorHidesNoGlobalKey(t *testing.T) {
	m := Default()
	for _, place := range []Place{Editor} {
		for key, a := range m.actions[place] {
			for global, other := range m.actions[Global] {
				if overlap(key, global) {
					t.Errorf("%q is %s, and %q is %s", key, a, global, other)
				}
			}
		}
	}
}

// TestEveryActionCanBeReachedOnAnyTerminal knows the keys that terminals send of old,
// over SSH and in tmux.
func TestEveryActionCanBeReachedOnAnyTerminal(t *testing.T) {
	old := func(key string) bool {
		if len(key) == 1 {
			return true
		}
		if c, ok := strings.CutPrefix(key, "ctrl+"); ok {
			return len(c) == 1 && (c[0] >= 'a' && c[0] <= 'z' && !strings.Contains("im", c) || c == "_")
		}
		return slices.Contains(strings.Fields("enter tab backspace esc space up down left right delete home end pgup pgdown f1 shift+tab"), key)
	}
	// What is done by typing, too, or by another action.
	also := map[Action]bool{WordLeft: true, WordRight: true, TextStart: true, TextEnd: true, DeleteWord: true, YankPop: true, ListMoveUp: true, ListMoveDown: true}
	for _, i := range Infos() {
		if !also[i.Action] && !slices.ContainsFunc(i.Keys, func(k string) bool {
			return !slices.ContainsFunc(strings.Fields(k), func(part string) bool { return !old(part) })
		}) {
			t.Errorf("%s has only %q", i.Action, i.Keys)
		}
	}
}

func TestTheFirstPlaceThatKnowsAKeyCounts(t *testing.T) {
	r := Reader{Map: Default()}
	for _, c := range []struct {
		key    string
		places []Place
		want   Action
		more   bool
	}{
		{"ctrl+o", []Place{Tree, List, Global}, TreeFilter, false},
		{"ctrl+o", []Place{Editor, Global}, ToggleTools, false},
		{"x", []Place{Editor, Global}, "", false},
		{"ctrl+x", []Place{Editor, Global}, "", true},
		{"ctrl+e", []Place{Editor, Global}, ExternalEditor, false},
		{"ctrl+x", []Place{Editor, Global}, "", true},
		{"m", []Place{Editor, Global}, PickModel, false},
		{"ctrl+x", []Place{Editor, Global}, "", true},
		{"!", []Place{Editor, Global}, "", false},
		{"ctrl+e", []Place{Editor, Global}, LineEnd, false},
	} {
		if got, more := r.Key(c.key, c.places...); got != c.want || more != c.more {
			t.Errorf("%s: %q, more %t; want %q, %t", c.key, got, more, c.want, c.more)
		}
	}
}

func read(t *testing.T, text string) (*Map, []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m, problems := Read(disk.OS(), file)
	for i := range problems {
		problems[i] = strings.ReplaceAll(problems[i], file, "FILE")
	}
	return m, problems
}

func TestTheUsersKeysReplaceThoseOfTheActionAndAreTakenFromOthers(t *testing.T) {
	m, problems := read(t, `"editor.submit" = ["Ctrl+Enter", "ctrl+x ctrl+s"]
"editor.newLine" = "enter"
"global.suspend" = "none"
[transcript]
copy = ["shift+y", "control+option+C"]
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for a, want := range map[Action][]string{
		Submit: {"ctrl+enter", "ctrl+x ctrl+s"}, NewLine: {"enter"}, SubmitOther: {"ctrl+q"}, Suspend: nil, Copy: {"Y", "ctrl+alt+c"}, Left: {"left", "ctrl+b"},
	} {
		if got := m.Keys(a); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", a, got, want)
		}
	}
	r := Reader{Map: m}
	if a, _ := r.Key("enter", Editor); a != NewLine {
		t.Errorf("enter is %s", a)
	}
	if a, _ := r.Key("ctrl+z", Global); a != "" {
		t.Errorf("ctrl+z is %s", a)
	}
}

func TestAKeyTakesTheSequencesThatItBeginsFromThePlace(t *testing.T) {
	m, problems := read(t, `"editor.clear" = "ctrl+x"`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := m.Keys(ExternalEditor); !slices.Equal(got, []string{"ctrl+g"}) {
		t.Errorf("%q", got)
	}
	if got := m.Keys(PickModel); !slices.Contains(got, "ctrl+x m") {
		t.Errorf("another place has lost its sequence: %q", got)
	}
}

func TestWhatIsWrongInTheFileIsToldWithItsLineAndTheRestCounts(t *testing.T) {
	m, problems := read(t, `"editor.sumbit" = "enter"
"editor.submit" = ["entr", "ctrl+s"]
"editor.undo" = 5
"editor.left" = ["ctrl+s"]
"editor.right" = ["hyper+hyper+x"]
"dialog.pick" = ["space"]
`)
	want := []string{
		`there is no action "editor.sumbit"; perhaps "editor.submit" (FILE:1)`,
		`editor.submit: "entr" is not a key; write a character or a name such as enter, esc, tab, space, backspace, up, pgdown or f5, after ctrl+, alt+, shift+ or super+ (FILE:2)`,
		`the keys of editor.undo are a list of at most 16, such as ["ctrl+g", "ctrl+x ctrl+e"], or "none" (FILE:3)`,
		`editor.right: "hyper+hyper+x" is not a key; write a character or a name such as enter, esc, tab, space, backspace, up, pgdown or f5, after ctrl+, alt+, shift+ or super+ (FILE:5)`,
		`editor.left cannot have the key "ctrl+s": editor.submit has "ctrl+s" (FILE:4)`,
	}
	if !slices.Equal(problems, want) {
		t.Errorf("%s\nwant:\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
	for a, keys := range map[Action][]string{Submit: {"ctrl+s"}, Undo: Default().Keys(Undo), Right: Default().Keys(Right), DialogPick: {"space"}} {
		if got := m.Keys(a); !slices.Equal(got, keys) {
			t.Errorf("%s has %q, want %q", a, got, keys)
		}
	}
}

func TestWithoutAFileTheKeysAreTheDefaultOnes(t *testing.T) {
	m, problems := Read(disk.OS(), filepath.Join(t.TempDir(), "keys.toml"))
	if len(problems) > 0 || !slices.Equal(m.Keys(Submit), []string{"enter"}) {
		t.Error(problems, m.Keys(Submit))
	}
	if m, problems = read(t, "broken = [\n"); len(problems) != 1 || !slices.Equal(m.Keys(Submit), []string{"enter"}) {
		t.Error(problems, m.Keys(Submit))
	}
}

func FuzzKeysAreReadAsTheyAreWritten(f *testing.F) {
	for _, i := range Infos() {
		for _, k := range i.Keys {
			f.Add(k)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, err := parse(text)
		if err != nil {
			return
		}
		if twice, err := parse(once); err != nil || twice != once {
			t.Errorf("%q is %q, and that %q: %v", text, once, twice, err)
		}
	})
}

// TestTheDocumentedKeysAreTheDefaultOnes compares the table of docs/keys.md.
func TestTheDocumentedKeysAreTheDefaultOnes(t *testing.T) {
	const page = "../../../../docs/keys.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), "<!-- keys -->\n")
	_, after, ok := strings.Cut(rest, "<!-- /keys -->")
	if !ok {
		t.Fatal("the page has no place for the table")
	}
	var b strings.Builder
	place := Place("")
	for _, i := range Infos() {
		if p := i.Action.Place(); p != place {
			place = p
			fmt.Fprintf(&b, "\n| %s | keys | |\n|---|---|---|\n", p)
		}
		var keys []string
		for _, k := range i.Keys {
			keys = append(keys, "`"+k+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", i.Action, strings.Join(keys, " "), i.Doc)
	}
	want := before + "<!-- keys -->\n" + b.String() + "\n<!-- /keys -->" + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !*update && string(data) != want {
		t.Error("the table is not that of the default keys; run go test ./internal/ui/tui/keymap -update")
	}
}

func TestTextsNameKeysWithCapitals(t *testing.T) {
	m := newMap()
	for key, want := range map[string]string{"enter": "Enter", "ctrl+c": "Ctrl+C", "ctrl+x ctrl+e": "Ctrl+X Ctrl+E", "k": "k", "K": "K", "alt+up": "Alt+Up", "f5": "F5", "ctrl++": "Ctrl++", "/": "/"} {
		m.keys[Submit] = []string{key}
		if got := m.Name(Submit); got != want {
			t.Errorf("%s is named %s, not %s", key, got, want)
		}
	}
	if got := m.Name(Cancel); got != "no key" {
		t.Errorf("an action without a key: %q", got)
	}
}

func TestAKeyIsTakenByAnActionOrASequence(t *testing.T) {
	m := Default()
	for key, want := range map[string]Action{"alt+p": PickModel, "ctrl+a": LineStart, "alt+k": "", "f7": ""} {
		if got := m.Taken(key, Editor, Global); got != want {
			t.Errorf("%s is taken by %q, not %q", key, got, want)
		}
	}
	if m.Taken("ctrl+x", Editor, Global) == "" {
		t.Error("the beginning of a sequence is free")
	}
}
