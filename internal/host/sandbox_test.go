package host_test

import (
	"strings"
	"testing"

	"scorel/internal/sandbox"
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
