package tasks_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// TestACallOfAKilledHostHasAResultThatSaysSo kills a host while the second of three calls runs.
func TestACallOfAKilledHostHasAResultThatSaysSo(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"call":"Bash","id":"a","input":{"command":"echo one"}},{"call":"Bash","id":"b","input":{"command":"sleep 60"}},{"call":"Bash","id":"c","input":{"command":"echo three"}}]}`,
		`{"if":{"user":"go on"},"do":[{"text":"It goes on."}]}`)
	e := w.Begin(false)
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("work"), WhenBusy: "reject", Options: &protocol.TurnOptions{Mode: "bypassPermissions"}})
	e.Until(func(event protocol.Event) bool {
		start, ok := event.Body.(*protocol.ToolExecutionStart)
		return ok && start.ToolCallID == "b"
	})
	after := w.Killed()
	again := after.Open(after.Connect(true), e.ID)
	results := func() (out []string) {
		for _, event := range after.Log(e.ID) {
			if m, ok := event.Message(); ok && m.Role == protocol.RoleToolResult {
				text := m.PlainText()
				if m.IsError {
					text = "error " + text
				}
				out = append(out, m.ToolCallID+" "+strings.TrimSpace(text))
			}
		}
		return out
	}
	want := []string{"a one\n[exit code 0]", "b error " + protocol.CallLost, "c error " + protocol.CallLost}
	if got := results(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("the log has the results %q, want %q", got, want)
	}
	if end := again.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v", end)
	}
	if n := strings.Count(after.LastRequest(), protocol.CallLost); n != 2 {
		t.Errorf("the model is told %d times", n)
	}
	if got := results(); len(got) != len(want) {
		t.Errorf("later the log has %q", got)
	}
}

func TestACallWhoseResultIsDamagedIsNotSaidToHaveBeenStopped(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"call":"Bash","id":"a","input":{"command":"echo one"}}]}`, `{"if":{"result":"one"},"do":[{"hang":true}]}`)
	e := w.Begin(false)
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.SendMessage{Content: hosttest.Text("work"), WhenBusy: "reject", Options: &protocol.TurnOptions{Mode: "bypassPermissions"}})
	e.Until(hosttest.OfType(protocol.TypeToolExecutionEnd))
	after := w.Killed()
	if err := after.Host.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(after.Home, ".scorel", "sessions", string(e.ID)+".jsonl")
	log, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, damaged := range map[string][]byte{
		"cut off":    log[:bytes.LastIndex(log, []byte(`"tool_result"`))+4],
		"unreadable": bytes.Replace(log, []byte(`"role":"tool_result"`), []byte(`"role":"tool_re\x00ult"`), 1),
	} {
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		after.Start()
		after.Open(after.Connect(false), e.ID)
		if err := after.Host.Close(); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(now, []byte(protocol.CallLost)) {
			t.Errorf("%s: the log says that the call was stopped", what)
		}
	}
}
