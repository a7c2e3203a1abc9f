package prompt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sized makes a file of the user's home and files of a project of so many bytes each,
// which begin with a word, and builds a prompt for a window of 32k tokens.
func sized(t *testing.T, own int, files map[string]int) (text string, notices string) {
	t.Helper()
	contents := map[string]string{}
	fill := func(word string, n int) string {
		return (word + " " + strings.Repeat("All work and no play.\n", n/22+1))[:n]
	}
	for name, n := range files {
		contents[name] = fill(strings.ToUpper(strings.ReplaceAll(filepath.Dir(name), "/", "_")), n)
	}
	cfg := project(t, contents)
	if own > 0 {
		if err := os.MkdirAll(filepath.Join(cfg.Home, ".scorel"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(cfg.Home, ".scorel", "AGENTS.md"), []byte(fill("MINE", own)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg.Window = 32_000
	out, notices := build(t, cfg)
	budget := cfg.Window * budgetPercent / 100 * bytesPerToken
	if len(out.Text) > budget || len(out.Text) < budget*95/100 {
		t.Errorf("the prompt has %d of %d bytes", len(out.Text), budget)
	}
	return out.Text, notices
}

func TestALargeFileOfTheProjectLeavesTheUsersOwnWhole(t *testing.T) {
	text, notices := sized(t, 20, map[string]int{"p/AGENTS.md": 180_000, "p/src/sub/x": 1})
	if !strings.Contains(text, "MINE") || !strings.Contains(text, "P All work") || strings.Count(text, cutMark) != 1 {
		t.Errorf("%s", text)
	}
	if !strings.Contains(notices, "p/AGENTS.md was cut to its first ") || !strings.Contains(notices, " of 179999 bytes") {
		t.Error(notices)
	}
}

func TestLargeFilesOfAProjectAreCutEvenly(t *testing.T) {
	text, _ := sized(t, 20, map[string]int{"p/AGENTS.md": 90_000, "p/src/AGENTS.md": 60, "p/src/sub/AGENTS.md": 90_000})
	far, near := strings.Index(text, "P All"), strings.Index(text, "P_SRC_SUB All")
	if far < 0 || near < far || strings.Count(text, cutMark) != 2 || !strings.Contains(text, "P_SRC All") {
		t.Fatalf("%s", text)
	}
	first, second := near-far, len(text)-near
	if first < second*8/10 || second < first*8/10 {
		t.Errorf("the files have %d and %d bytes", first, second)
	}
}

func TestALargeFileOfTheUsersLeavesHalfToTheProject(t *testing.T) {
	text, notices := sized(t, 90_000, map[string]int{"p/AGENTS.md": 90_000, "p/src/sub/x": 1})
	mine, project := strings.Index(text, "MINE"), strings.Index(text, "P All")
	if mine < 0 || project < mine || strings.Count(notices, "was cut to its first") != 2 {
		t.Fatalf("%s", notices)
	}
	if first, second := project-mine, len(text)-project; first < second*8/10 || second < first*8/10 {
		t.Errorf("the files have %d and %d bytes", first, second)
	}
	text, _ = sized(t, 90_000, map[string]int{"p/AGENTS.md": 50, "p/src/sub/x": 1})
	if !strings.Contains(text, "P All") || strings.Count(text, cutMark) != 1 {
		t.Errorf("%s", text)
	}
}
