package commands_test

import (
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestABundledCommandIsReplacedByAFileOfItsName(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	w.User("commands/review.md", "My own review.")
	e := w.Begin(false)
	list := hosttest.Call[*protocol.CommandList](t, e.C, e.ID, &protocol.ListCommands{})
	by := map[string]protocol.CommandInfo{}
	for _, i := range list.Commands {
		by[i.Name] = i
	}
	if i := by["commit"]; i.Scope != "builtin" || i.Source != protocol.CommandTemplate || i.Description == "" {
		t.Errorf("%+v", i)
	}
	if i := by["review"]; i.Scope != "user" || len(list.Problems) > 0 {
		t.Errorf("%+v, problems %q", i, list.Problems)
	}
	for _, name := range []string{"review", "commit", "init:template"} {
		e.Events = nil
		e.Command(name, "only the parser")
		e.End()
	}
	w.File(".claude/commands/commit.md", "The project's commit.")
	e.Events = nil
	e.Command("commit", "")
	e.End()
	for i, want := range []string{"My own review.", "Make one commit. Wishes of the user: only the parser\n", "Write `AGENTS.md`", "The project's commit."} {
		if got := e.Said()[i]; !strings.Contains(got, want) {
			t.Errorf("message %d is %q, want %q in it", i, got, want)
		}
	}
}
