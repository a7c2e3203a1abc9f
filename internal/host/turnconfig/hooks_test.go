package turnconfig_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const countPrompts = `
[[hooks]]
event = "UserPromptSubmit"
command = '''
echo >> asked
if grep -q secret; then echo "not that word" >&2; exit 2; fi
'''
`

func TestAHookIsAskedOfAMessageOnceHoweverOftenItIsSent(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Tables: countPrompts}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	c := w.Caller()
	call := hosttest.NewCall(e.ID, &protocol.SendMessage{Content: hosttest.Text("once")})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := c.Conn.Call(context.Background(), call); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	e.End()
	if n := w.TimesAsked(); n != 1 {
		t.Errorf("asked %d times", n)
	}

	// A host that lost the answer finds the message in the log, and asks nobody.
	later := &hosttest.Caller{W: w.Killed(), Key: c.Key}
	later.Connect()
	repeat := call
	repeat.Repeat = true
	if r := later.Call(repeat); r.Err != nil || r.Data.(*protocol.Sent).EventID == "" {
		t.Errorf("repeated: %+v", r)
	}
	if n := w.TimesAsked(); n != 1 {
		t.Errorf("asked %d times with the repeat", n)
	}

	refusal := hosttest.NewCall(e.ID, &protocol.SendMessage{Content: hosttest.Text("the secret word")})
	before := len(w.Log(e.ID))
	if r := c.Call(refusal); r.Err == nil || r.Err.Code != protocol.CodePermissionDenied || !strings.HasSuffix(r.Err.Message, "refused the message: not that word") {
		t.Errorf("refused: %+v", r)
	}
	if after := len(w.Log(e.ID)); after != before || w.TimesAsked() != 2 {
		t.Errorf("%d events more, asked %d times", after-before, w.TimesAsked())
	}
	w.Reports.Mu.Lock()
	defer w.Reports.Mu.Unlock()
	all := strings.Join(w.Reports.List, "\n")
	if !strings.Contains(all, "UserPromptSubmit: deny (exit 2), ") || strings.Contains(all, "secret") || strings.Contains(all, "not that word") {
		t.Errorf("diagnostics:\n%s", all)
	}
}

func TestTheSessionOfASubagentNeitherStartsNorEndsForHooks(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Tables: `
[[hooks]]
event = "SessionStart"
command = "echo start >> hooked"
[[hooks]]
event = "SubagentStop"
command = "echo stop >> hooked"
[[hooks]]
event = "SessionEnd"
command = "echo end >> hooked"
`}, hosttest.AgentCall("^start$", "", "CHILD 1"), `{"if":{"user":"CHILD 1"},"do":[{"text":"piece one"}]}`, hosttest.Answer("piece one", "done"))
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
	}
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.Read("hooked"); got != "start\nstop\nend\n" {
		t.Errorf("the hooks were asked %q", got)
	}
}

func TestAHookThatFailsInASubagentIsToldWhereItWorksFor(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash(), Tables: `
[[hooks]]
event = "PreToolUse"
matcher = "Bash"
command = "no-such-program"
`}, hosttest.AgentCall("^start$", "", "CHILD 1"), hosttest.Shell("CHILD 1", "b", "touch made"), hosttest.Answer("so this call was not run", "it was not run"), hosttest.Answer("it was not run", "done"))
	e := w.Begin(false)
	e.Send("start")
	b := e.Until(hosttest.OfType(protocol.TypeNotice)).Body.(*protocol.Notice)
	if b.Level != "warning" || !strings.HasPrefix(b.Text, "the agent general: hook 1 of ") || !strings.Contains(b.Text, "at PreToolUse, so the call of Bash was not run") {
		t.Errorf("%+v", b)
	}
	if e.End(); w.Exists("made") {
		t.Error("it ran")
	}
}
