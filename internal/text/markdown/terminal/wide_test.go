package terminal

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestWideCharactersFillTheLine: a line is broken right before the character that does not
// fit, not one before.
func TestWideCharactersFillTheLine(t *testing.T) {
	var got []string
	for _, l := range Lines(testTheme(), 6, "一二三四五六七") {
		got = append(got, strings.TrimSpace(ansi.Strip(l)))
	}
	if strings.Join(got, "|") != "一二三|四五六|七" {
		t.Errorf("%q", got)
	}
}

// TestTheHeadsOfANarrowTableAreRead: where the columns do not fit, each cell stands after
// its head, without the marks of Markdown.
func TestTheHeadsOfANarrowTableAreRead(t *testing.T) {
	text := ansi.Strip(strings.Join(Lines(testTheme(), 20, "| **Name** | `Size` | Third | Fourth | Fifth | Sixth | Seventh |\n|---|---|---|---|---|---|---|\n| averylongnamethatisone | 2 | 3 | 4 | 5 | 6 | 7 |\n"), "\n"))
	if !strings.Contains(text, "Name:") || !strings.Contains(text, "Size: 2") || strings.ContainsAny(text, "*`") {
		t.Errorf("%s", text)
	}
}
