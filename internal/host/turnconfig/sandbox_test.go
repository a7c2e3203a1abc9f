package turnconfig_test

import (
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// nothing is a system that can hold nothing of the sandbox.
func nothing() sandbox.Status { return sandbox.Status{Missing: "Commands are not confined here."} }

func TestWhereNothingHoldsItIsSaidBeforehandAndWithEachQuestion(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true, Confines: nothing}, hosttest.RunTwice, `{"if":{"result":"one"},"do":[{"text":"done"}]}`)
	p := hosttest.Call[*protocol.Project](t, w.Connect(true), "", &protocol.RegisterProject{WorkDir: w.Project})
	if len(p.Notices) != 1 || p.Notices[0] != "Commands are not confined here. scorel doctor says what to do." {
		t.Errorf("notices: %q", p.Notices)
	}
	e := w.Begin(true)
	e.Send("run")
	q := e.Asked(1)
	if !strings.Contains(q.Reason, "Commands are not confined here.") {
		t.Errorf("the question: %q", q.Reason)
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: hosttest.Choice(t, q, "once")})
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v\n%s", end, e.Trace())
	}
}

func TestTheFolderForTemporaryFilesComesWithTheFirstCommand(t *testing.T) {
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	folders := func(want int, when string) {
		t.Helper()
		if found, _ := filepath.Glob(filepath.Join(base, "scorel-*", "ses_*")); len(found) != want {
			t.Errorf("%s: %d folders, want %d: %v", when, len(found), want, found)
		}
	}
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, `{"if":{"user":"hello"},"do":[{"text":"hello"}]}`,
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"test -d \"$TMPDIR\" && touch $TMPDIR/x && echo made"}}]}`,
		`{"if":{"result":"^made"},"do":[{"call":"Bash","id":"c2","input":{"command":"ls $TMPDIR"}}]}`, `{"if":{"result":"^x"},"do":[{"text":"done"}]}`)
	e := w.Begin(false)
	hosttest.Refused(t, e.C, e.ID, &protocol.CreateSession{ProjectID: "prj_0000000000000000", Meta: protocol.Meta{WorkDir: w.Project}}, protocol.CodeConflict)
	e.Say("hello")
	folders(0, "after a turn without a command")
	if end := e.Say("run"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	folders(1, "after a command")
	w.Judged()
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	folders(0, "after the session was closed")
}
