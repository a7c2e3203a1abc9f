package tui_test

import (
	"cmp"
	"os"
	"testing"

	"scorel/internal/dev/harness"
	"scorel/internal/extension/rpc"
	"scorel/internal/ui/cli"
	"scorel/internal/ui/tui"
	"scorel/internal/ui/tui/tuitest"
)

// asScorel makes the test's own program scorel: the host that the UI starts is the same
// program, with the same environment.
const asScorel = "SCOREL_TUI_TEST=1"

func TestMain(m *testing.M) {
	if os.Getenv("SCOREL_TUI_TEST") != "" || len(os.Args) > 1 && os.Args[1] == rpc.ChildName {
		tui.CrashOn(os.Getenv("SCOREL_TUI_CRASH"))
		tui.DrawWithin(os.Getenv("SCOREL_TUI_DRAW"))
		tui.AnswerWithin(os.Getenv("SCOREL_TUI_ANSWER"))
		os.Exit(cli.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// newHarness returns a home, a project and a model that plays a script (see
// [tuitest.New]), in which the test's own program is scorel. The test runs beside others.
func newHarness(t *testing.T, answers ...string) *tuitest.Harness {
	t.Helper()
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program = cmp.Or(harness.Plain(t.Name(), "SCOREL_TEST_TUI"), program)
	return tuitest.New(t, tuitest.Program{Path: program, Env: []string{asScorel}}, answers...)
}
