package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"scorel/protocol"
)

// asked gives how often a hook was run that adds a line to a file of the project.
func (w *world) timesAsked() int {
	data, _ := os.ReadFile(filepath.Join(w.project, "asked"))
	return strings.Count(string(data), "\n")
}

const countPrompts = `
[[hooks]]
event = "UserPromptSubmit"
command = '''
echo >> asked
if grep -q secret; then echo "not that word" >&2; exit 2; fi
'''
`

func TestAHookIsAskedOfAMessageOnceHoweverOftenItIsSent(t *testing.T) {
	w := newWorld(t, setting{tables: countPrompts}, `{"again":true,"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	c := w.caller()
	call := newCall(e.id, &protocol.SendMessage{Content: text("once")})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := c.conn.Call(context.Background(), call); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	e.end()
	if n := w.timesAsked(); n != 1 {
		t.Errorf("asked %d times", n)
	}

	// A host that lost the answer finds the message in the log, and asks nobody.
	later := &caller{w: w.killed(), key: c.key}
	later.connect()
	repeat := call
	repeat.Repeat = true
	if r := later.call(repeat); r.Err != nil || r.Data.(*protocol.Sent).EventID == "" {
		t.Errorf("repeated: %+v", r)
	}
	if n := w.timesAsked(); n != 1 {
		t.Errorf("asked %d times with the repeat", n)
	}

	refusal := newCall(e.id, &protocol.SendMessage{Content: text("the secret word")})
	before := len(w.log(e.id))
	if r := c.call(refusal); r.Err == nil || r.Err.Code != protocol.CodePermissionDenied || !strings.HasSuffix(r.Err.Message, "refused the message: not that word") {
		t.Errorf("refused: %+v", r)
	}
	if after := len(w.log(e.id)); after != before || w.timesAsked() != 2 {
		t.Errorf("%d events more, asked %d times", after-before, w.timesAsked())
	}
	w.reports.mu.Lock()
	defer w.reports.mu.Unlock()
	all := strings.Join(w.reports.list, "\n")
	if !strings.Contains(all, "UserPromptSubmit: deny (exit 2), ") || strings.Contains(all, "secret") || strings.Contains(all, "not that word") {
		t.Errorf("diagnostics:\n%s", all)
	}
}

func TestTheSessionOfASubagentNeitherStartsNorEndsForHooks(t *testing.T) {
	w := newWorld(t, setting{tables: `
[[hooks]]
event = "SessionStart"
command = "echo start >> hooked"
[[hooks]]
event = "SubagentStop"
command = "echo stop >> hooked"
[[hooks]]
event = "SessionEnd"
command = "echo end >> hooked"
`}, agentCall("^start$", "", "CHILD 1"), `{"if":{"user":"CHILD 1"},"do":[{"text":"piece one"}]}`, answer("piece one", "done"))
	e := w.begin(false)
	if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
	}
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.read("hooked"); got != "start\nstop\nend\n" {
		t.Errorf("the hooks were asked %q", got)
	}
}

func TestAHookThatFailsInASubagentIsToldWhereItWorksFor(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash(), tables: `
[[hooks]]
event = "PreToolUse"
matcher = "Bash"
command = "no-such-program"
`}, agentCall("^start$", "", "CHILD 1"), shell("CHILD 1", "b", "touch made"), answer("so this call was not run", "it was not run"), answer("it was not run", "done"))
	e := w.begin(false)
	e.send("start")
	b := e.until(ofType(protocol.TypeNotice)).Body.(*protocol.Notice)
	if b.Level != "warning" || !strings.HasPrefix(b.Text, "the agent general: hook 1 of ") || !strings.Contains(b.Text, "at PreToolUse, so the call of Bash was not run") {
		t.Errorf("%+v", b)
	}
	if e.end(); w.exists("made") {
		t.Error("it ran")
	}
}
