package tui

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"scorel/internal/ui/slash"
)

var updateDocs = flag.Bool("update", false, "write the table of docs/terminal-ui.md anew")

// TestEveryCommandOfTheUIIsHandled holds that the UI handles what package slash says it
// has, and nothing else.
func TestEveryCommandOfTheUIIsHandled(t *testing.T) {
	runs := handlers()
	for _, c := range commands() {
		if c.run == nil {
			t.Errorf("nothing handles /%s", c.Name)
		}
		delete(runs, c.Name)
	}
	for name := range runs {
		t.Errorf("/%s is handled and is not a command of the terminal UI", name)
	}
}

// TestTheDocumentedCommandsAreThoseThatThereAre compares the table of docs/terminal-ui.md.
func TestTheDocumentedCommandsAreThoseThatThereAre(t *testing.T) {
	const page, begin, end = "../../../docs/terminal-ui.md", "<!-- commands -->\n", "<!-- /commands -->\n"
	var table strings.Builder
	table.WriteString("\n| command | |\n|---|---|\n")
	for _, c := range slices.SortedFunc(slices.Values(commands()), func(a, b command) int { return strings.Compare(a.Name, b.Name) }) {
		fmt.Fprintf(&table, "| `%s` | %s |\n", c.Usage(slash.Screen), c.Doc)
	}
	table.WriteString("\n")
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(have), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", page)
	}
	want := before + begin + table.String() + end + after
	if want == string(have) {
		return
	}
	if *updateDocs {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/terminal-ui.md has other commands; run with -update")
}
