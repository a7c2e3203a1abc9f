package commands_test

import (
	"strings"
	"testing"
	"time"

	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// proactive runs the command and returns what it says.
func proactive(e *hosttest.Entry, args string) string {
	e.W.T.Helper()
	return hosttest.Call[*protocol.CommandResult](e.W.T, e.C, e.ID, &protocol.RunCommand{Name: "proactive", Args: args}).Status
}

func TestProactiveModeIsSwitchedByACommandThatSaysHowItStands(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, `{"again":true,"do":[{"text":"well"}]}`)
	e := w.Begin(false)
	for _, c := range []struct{ args, want string }{
		{"", "proactive mode is off"},
		{"on", "a turn begins 30s after"},
		{"files", "30s after the end of the one before, and when something else changes a file"},
		{"on 2m", "a turn begins 2m0s after the end of the one before; next "},
		{"1h files", "a turn begins 1h0m0s after the end of the one before, and when"},
		{"", "a turn begins 1h0m0s after"},
		{"off", "proactive mode is off"},
		{"", "proactive mode is off"},
	} {
		if got := proactive(e, c.args); !strings.Contains(got, c.want) {
			t.Errorf("/proactive %s says %q, want %q", c.args, got, c.want)
		}
	}
	for _, args := range []string{"maybe", "on 2", "on 2m 3m", "off now", "on 1s", "on 2h", "on -5s", "files files"} {
		err := hosttest.Refused(t, e.C, e.ID, &protocol.RunCommand{Name: "proactive", Args: args}, protocol.CodeInvalidRequest)
		if err == nil || strings.Count(err.Message, ". ") > 0 {
			t.Errorf("/proactive %s: %v", args, err)
		}
	}
	if got := proactive(e, ""); !strings.Contains(got, "is off") {
		t.Errorf("after refused commands: %s", got)
	}
}

func TestATurnOfProactiveModeIsSeenByEveryClientAndDeniesWhatWouldBeAsked(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true}, `{"if":{"user":"nobody has typed this"},"do":[{"call":"Bash","input":{"command":"touch made"}}]}`,
		`{"again":true,"do":[{"text":"it was denied"}]}`)
	e := w.Begin(false)
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetProactive{On: true, EverySeconds: protocol.MinProactiveSeconds})
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.SetProactive{})
	m := e.Messages()
	if m[0].Meta == nil || m[0].Meta.Source != protocol.SourceProactive {
		t.Errorf("the first message: %+v", m[0])
	}
	if last := m[len(m)-1]; last.PlainText() != "it was denied" {
		t.Errorf("the last message: %+v", last)
	}
	denied := false
	for _, x := range m {
		denied = denied || x.Role == protocol.RoleToolResult && x.IsError
	}
	if !denied {
		t.Error("the command was not denied")
	}
	var states []string
	for _, ev := range e.Events {
		if b, ok := ev.Body.(*protocol.AutomationUpdate); ok && b.Automation != nil {
			state := "runs"
			if at := b.Automation.NextTickAt; at > 0 && time.UnixMilli(at).After(time.UnixMilli(ev.TS)) {
				state = "next"
			}
			states = append(states, state)
		}
	}
	if got := strings.Join(states, " "); !strings.HasPrefix(got, "next runs") {
		t.Errorf("clients were told %q", got)
	}
}

func TestProactiveModeRefusesARequestOutOfBounds(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"well"}]}`)
	e := w.Begin(false)
	for _, s := range []int{1, 4, 3601, -1} {
		hosttest.Refused(t, e.C, e.ID, &protocol.SetProactive{On: true, EverySeconds: s}, protocol.CodeInvalidRequest)
	}
}
