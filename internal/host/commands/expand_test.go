package commands_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestATemplateIsExpandedForUseElsewhereAndItsShellLinesAreNotRun(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{})
	w.User("commands/review.md", "---\ndescription: Reviews\n---\nReview $1 by @rules.md.")
	w.User("skills/review/SKILL.md", "---\ndescription: A skill\n---\nx")
	w.User("commands/shell.md", "Today: !`touch ran`")
	w.File(".scorel/commands/own.md", "of the project: $ARGUMENTS")
	c := w.Connect(false)
	for _, name := range []string{"review", "review:template"} {
		got := hosttest.Call[*protocol.ExpandedCommand](t, c, "", &protocol.ExpandCommand{WorkDir: w.Project, Name: name, Args: "a.go"})
		if got.Text != "Review a.go by @rules.md." {
			t.Errorf("%s is %q", name, got.Text)
		}
	}
	if got := hosttest.Call[*protocol.ExpandedCommand](t, c, "", &protocol.ExpandCommand{WorkDir: w.Project, Name: "own", Args: "b c"}); got.Text != "of the project: b c" {
		t.Errorf("a project's is %q", got.Text)
	}
	err := hosttest.Refused(t, c, "", &protocol.ExpandCommand{WorkDir: w.Project, Name: "shell"}, protocol.CodeForbidden)
	if !strings.Contains(err.Message, "has shell lines") || w.Exists(w.Project+"/ran") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"compact", "none", "review:skill"} {
		hosttest.Refused(t, c, "", &protocol.ExpandCommand{WorkDir: w.Project, Name: name}, protocol.CodeNotFound)
	}
}
