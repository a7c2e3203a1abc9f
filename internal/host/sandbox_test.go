package host_test

import (
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/platform/sandbox"
	"scorel/protocol"
)

// nothing is a system that can hold nothing of the sandbox.
func nothing() sandbox.Status { return sandbox.Status{Missing: "Commands are not confined here."} }

func TestWhereNothingHoldsItIsSaidBeforehandAndWithEachQuestion(t *testing.T) {
	w := newWorld(t, setting{attended: true, confines: nothing}, runTwice, `{"if":{"result":"one"},"do":[{"text":"done"}]}`)
	p := call[*protocol.Project](t, w.connect(true), "", &protocol.RegisterProject{WorkDir: w.project})
	if len(p.Notices) != 1 || p.Notices[0] != "Commands are not confined here. scorel doctor says what to do." {
		t.Errorf("notices: %q", p.Notices)
	}
	e := w.begin(true)
	e.send("run")
	q := e.asked(1)
	if !strings.Contains(q.Reason, "Commands are not confined here.") {
		t.Errorf("the question: %q", q.Reason)
	}
	call[*protocol.Done](t, e.c, e.id, &protocol.AnswerPermission{PermissionID: q.PermissionID, Choice: choice(t, q, "once")})
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v\n%s", end, e.trace())
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
	w := newWorld(t, setting{overrides: allowBash()}, `{"if":{"user":"hello"},"do":[{"text":"hello"}]}`,
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"test -d \"$TMPDIR\" && touch $TMPDIR/x && echo made"}}]}`,
		`{"if":{"result":"^made"},"do":[{"call":"Bash","id":"c2","input":{"command":"ls $TMPDIR"}}]}`, `{"if":{"result":"^x"},"do":[{"text":"done"}]}`)
	e := w.begin(false)
	refused(t, e.c, e.id, &protocol.CreateSession{ProjectID: "prj_0000000000000000", Meta: protocol.Meta{WorkDir: w.project}}, protocol.CodeConflict)
	e.say("hello")
	folders(0, "after a turn without a command")
	if end := e.say("run"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	folders(1, "after a command")
	w.judged()
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	folders(0, "after the session was closed")
}
