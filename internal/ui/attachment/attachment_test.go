package attachment

import (
	"slices"
	"strings"
	"testing"

	"scorel/internal/ui/tui/complete"
	"scorel/internal/ui/tui/keymap"
	"scorel/protocol"
)

func TestWordsThatBeginWithAnAtNameFiles(t *testing.T) {
	for text, want := range map[string][]string{
		"look at @a.go, and (@b.go)":         {"a.go"},
		"@a.go @a.go\n@b/c.go.":              {"a.go", "b/c.go"},
		`@"with blank.md" and @"broken`:      {"with blank.md", `"broken`},
		"mail me at ada@example.com":         nil,
		"@ alone":                            nil,
		"a@@b @@c":                           {"@c"},
		`@"two` + "\n" + `lines" @plain.txt`: {`"two`, "plain.txt"},
	} {
		if got := names(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := names(strings.Repeat("@x ", 10) + many(MaxFiles+9)); len(got) != MaxFiles+1 {
		t.Errorf("%d names are kept", len(got))
	}
}

// TestWhatTheTerminalUICompletesIsReadAsThatFile: a name that Tab or Enter puts into a
// text after an @.
func TestWhatTheTerminalUICompletesIsReadAsThatFile(t *testing.T) {
	for _, path := range []string{"plain.go", "my file.txt", "a,b;c.txt", "strange.", "so?", "päth/世界.go", "it's.md", "a(1).png", "a(1)", "tab\there", "@at", "-x"} {
		l := complete.New(nil)
		l.Files(l.Update(complete.Input{Before: "see @p"}).Number, &protocol.FileList{Files: []string{path}})
		edit, _ := l.Do(keymap.Submit)
		if edit == nil {
			t.Errorf("%q is not offered", path)
			continue
		}
		if got := names("see " + edit.New + "and more"); !slices.Equal(got, []string{path}) {
			t.Errorf("%q becomes %q and is read as %q", path, edit.New, got)
		}
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" @f" + strings.Repeat("x", i))
	}
	return b.String()
}
