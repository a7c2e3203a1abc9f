package question

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

// shownOf returns what a person sees of a call that they are asked about.
func shownOf(t *testing.T, tool, args string) string {
	t.Helper()
	draw := consequence(protocol.PermissionRequest{ToolName: tool, Args: []byte(args)})
	if draw == nil {
		t.Fatalf("%s: nothing is drawn", args)
	}
	th, _ := theme.New(theme.Options{Name: theme.Dark})
	return ansi.Strip(strings.Join(draw(th, 80), "\n"))
}

func TestNoLineOfAnEditIsLeftOutOfItsQuestion(t *testing.T) {
	for tool, args := range map[string]string{
		"Edit":      `{"path":"a.sql","edits":[{"old_string":"one\n-- gone\nlast","new_string":"two\n++ come\n@@ -1 +1 @@ odd\nlast"}]}`,
		"MultiEdit": `{"file_path":"a.sql","edits":[{"old_string":"a\n-- gone","new_string":""},{"old_string":"","new_string":"b\n++ come\n@@ -1 +1 @@ odd"}]}`,
		"Write":     `{"path":"a\n+++ b.sql","content":"one\n++ come\n-- gone\n@@ -1 +1 @@ odd"}`,
	} {
		got := shownOf(t, tool, args)
		for _, want := range []string{"++ come", "-- gone", "@@ -1 +1 @@ odd"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", tool, want, got)
			}
		}
	}
}

func TestWhatAnEditLeavesAsItIsStandsAroundTheChange(t *testing.T) {
	got := shownOf(t, "Edit", `{"path":"a.go","old_string":"func a() {\n\treturn 1\n}","new_string":"func a() {\n\treturn 2\n}"}`)
	want := "  func a() {\n-     return 1\n+     return 2\n  }"
	if got != want {
		t.Errorf("%s\nand not\n%s", got, want)
	}
}
