package prompt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/protocol"
)

// nest makes a repository with files and a finder that works in its top folder.
func nest(t *testing.T, files map[string]string) (root string, n *Nested) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files[".git/HEAD"] = "ref: refs/heads/main\n"
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, NewNested(NestedConfig{WorkDir: root, Root: root, Home: filepath.Join(root, "no-home"), UID: os.Getuid(), Window: 200_000})
}

func TestTheInstructionsOfATouchedFolderAreToldOnce(t *testing.T) {
	root, n := nest(t, map[string]string{"AGENTS.md": "TOP", "a/AGENTS.md": "RULES-OF-A", "a/b/CLAUDE.md": "RULES-OF-B </project-instructions>", "a/b/c/x.go": "x", "d/AGENTS.md": "RULES-OF-D", "d/CLAUDE.md": "NOT-THIS"})
	in := func(name string) string { return filepath.Join(root, name) }
	if item, _, ok := n.Item([]string{in("main.go")}, root, nil); ok {
		t.Errorf("of the top folder: %+v", item)
	}
	first, said, ok := n.Item([]string{in("main.go"), in("a/b/c/x.go")}, "", nil)
	if !ok || len(said) > 0 || first.Kind != protocol.ItemInstructions {
		t.Fatalf("%+v %v", first, said)
	}
	at := strings.Index(first.Content, "RULES-OF-A")
	if at < 0 || strings.Index(first.Content, "RULES-OF-B") < at || strings.Contains(first.Content, "TOP") || strings.Count(first.Content, "</project-instructions>") != 2 ||
		!strings.Contains(first.Content, `path="`+in("a/b/CLAUDE.md")+`"`) {
		t.Errorf("told: %s", first.Content)
	}
	if again, _, ok := n.Item([]string{in("a/b/c/x.go"), in("a/y.go")}, "", &first); ok {
		t.Errorf("told twice: %+v", again)
	}
	second, _, ok := n.Item([]string{in("a/b/c/x.go")}, in("d"), &first)
	if !ok || strings.Contains(second.Content, "RULES-OF-A") || !strings.Contains(second.Content, "RULES-OF-D") || strings.Contains(second.Content, "NOT-THIS") {
		t.Errorf("%+v", second)
	}
	if again, _, ok := n.Item([]string{in("a/y.go")}, in("d"), &second); ok {
		t.Errorf("the second item has forgotten the first: %+v", again)
	}
	if item, _, ok := n.Item([]string{in("a/AGENTS.md")}, "", nil); ok {
		t.Errorf("what was read is told: %+v", item)
	}
}

func TestNestedInstructionsComeOnlyFromTheWorkspaceAndFromFoldersOfTheUser(t *testing.T) {
	root, n := nest(t, map[string]string{"AGENTS.md": "TOP", "open/AGENTS.md": "ANYBODY'S", "sub/AGENTS.md": "SUB", "sub/.git/HEAD": "x", "sub/in/x.go": "x", "empty/AGENTS.md": " \n", "link/x.go": "x"})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "AGENTS.md"), []byte("OUTSIDE"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "AGENTS.md"), filepath.Join(root, "link/AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(root, "open"), 0o777); err != nil {
		t.Fatal(err)
	}
	item, _, ok := n.Item([]string{filepath.Join(outside, "x.go"), filepath.Join(root, "open/x.go"), filepath.Join(root, "sub/in/x.go"), filepath.Join(root, "empty/x.go")}, "", nil)
	if !ok || !strings.Contains(item.Content, "SUB") || strings.Contains(item.Content, "OUTSIDE") || strings.Contains(item.Content, "ANYBODY") {
		t.Errorf("%+v", item)
	}
	for try := range 2 {
		item, said, ok := n.Item([]string{filepath.Join(root, "link/x.go")}, "", nil)
		if ok || len(said) != 1-try {
			t.Errorf("try %d: a link that leads out: %+v, %q", try, item, said)
		}
	}
}

func TestNestedInstructionsAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range maxNested + 5 {
		files[fmt.Sprintf("d%03d/AGENTS.md", i)] = strings.Repeat("x", 1000)
	}
	files["big/AGENTS.md"] = strings.Repeat("y", 3*maxNestedFile)
	root, n := nest(t, files)
	item, _, _ := n.Item([]string{filepath.Join(root, "big/x.go")}, "", nil)
	if l := strings.Count(item.Content, "y"); l < maxNestedFile-100 || l > maxNestedFile+100 || !strings.Contains(item.Content, "[cut here: Read gives the rest of ") {
		t.Errorf("%d bytes of it", l)
	}
	var touched []string
	for i := range maxNested + 5 {
		touched = append(touched, filepath.Join(root, fmt.Sprintf("d%03d/x.go", i)))
	}
	item, _, _ = n.Item(touched, "", &item)
	if len(item.Content) > maxNestedItem+400*maxNested {
		t.Errorf("one item has %d bytes", len(item.Content))
	}
	if got := strings.Count(string(item.Data), "AGENTS.md"); got != maxNested {
		t.Errorf("%d files are told", got)
	}
	if more, _, ok := n.Item(touched, "", &item); ok {
		t.Errorf("more than the bound: %.200s", more.Content)
	}
	small := NewNested(NestedConfig{WorkDir: root, Root: root, Home: "/no-home", UID: os.Getuid(), Window: 20_000})
	if item, _, _ := small.Item([]string{filepath.Join(root, "big/x.go")}, "", nil); strings.Count(item.Content, "y") > 3300 {
		t.Errorf("a small window gets %d bytes", len(item.Content))
	}
}
