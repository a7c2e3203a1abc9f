package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/ui/tui/golden"
	"scorel/internal/ui/tui/theme"
)

func TestMarkdownLooksAsItShould(t *testing.T) {
	sample, err := os.ReadFile(filepath.Join("testdata", "sample.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]theme.Options{
		"dark":  {Name: theme.Dark, Dark: true, Profile: colorprofile.TrueColor},
		"light": {Name: theme.Light, Profile: colorprofile.TrueColor},
		"plain": {Name: theme.Colourless, Plain: true, Profile: colorprofile.ASCII},
	} {
		th, problems := theme.New(o)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		for _, width := range []int{40, 80, 120} {
			lines := Lines(th, width, string(sample))
			golden.Lines(t, lines, width)
			golden.File(t, fmt.Sprintf("%s-%d", name, width), strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b", "␛")+"\n")
		}
	}
}
