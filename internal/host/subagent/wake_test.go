package subagent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// woken is a serving host with a session in which an agent works in the background.
func woken(t *testing.T, s hosttest.Setting, more ...string) (*hosttest.World, *hosttest.Entry) {
	t.Helper()
	s.Serving = true
	if len(s.Overrides.Allow) == 0 {
		s.Overrides = hosttest.AllowBash()
	}
	w := hosttest.New(t, s, append(behind(), more...)...)
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	w.Line("pid")
	return w, e
}

const toldOfIt = `{"if":{"user":"(?s)Background agent task_.*piece one is there"},"again":true,"do":[{"text":"the agent is done"}]}`

func TestTheEndOfAnAgentInTheBackgroundBeginsATurn(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w, e := woken(t, hosttest.Setting{API: api}, toldOfIt, `{"if":{"user":"later"},"do":[{"text":"nothing new"}]}`)
			e.Events = nil
			w.File("go", "")
			if end := e.End(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			if m := e.Messages(); m[len(m)-1].PlainText() != "the agent is done" {
				t.Errorf("the last message: %+v", m[len(m)-1])
			}
			if n := len(w.Notices(e.ID)); n != 1 {
				t.Errorf("told %d times", n)
			}
			if end := e.Say("later"); end.Terminal != protocol.TerminalCompleted || len(w.Notices(e.ID)) != 1 {
				t.Errorf("end: %+v, told %d times", end, len(w.Notices(e.ID)))
			}
		})
	}
}

// quiet waits until an agent has ended and has had the time to begin a turn, and reports
// whether none runs.
func quiet(w *hosttest.World, e *hosttest.Entry) bool {
	w.Eventually("the end of the agent", func() bool {
		return hosttest.Call[*protocol.TaskList](w.T, e.C, e.ID, &protocol.ListTasks{}).Tasks[0].State != protocol.TaskRunning
	})
	requests := len(w.Server.Requests())
	<-time.After(20 * time.Millisecond) // a fault is seen most of the time, and never where there is none
	return len(w.Server.Requests()) == requests && len(w.Notices(e.ID)) == 0
}

func TestBackgroundWorkBeginsNoTurnWhereThatIsSwitchedOff(t *testing.T) {
	w, e := woken(t, hosttest.Setting{Tables: "[background]\nwake = 'off'\n"})
	w.File("go", "")
	if !quiet(w, e) {
		t.Error("a turn was begun")
	}
}

func TestAHostThatEndsWithItsCommandIsNotWoken(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, behind()...)
	e := w.Begin(false)
	e.Say("start")
	w.Line("pid")
	w.File("go", "")
	if !quiet(w, e) {
		t.Error("a turn was begun")
	}
}

func TestAnAgentThatAPersonStopsBeginsNoTurn(t *testing.T) {
	w, e := woken(t, hosttest.Setting{})
	task := hosttest.Call[*protocol.TaskList](t, e.C, e.ID, &protocol.ListTasks{}).Tasks[0]
	hosttest.Call[*protocol.TaskInfo](t, e.C, e.ID, &protocol.StopTask{TaskID: task.TaskID})
	if !quiet(w, e) {
		t.Error("a turn was begun")
	}
}

func TestCommandsAndMonitorsBeginTurnsWhereThatIsAskedFor(t *testing.T) {
	start := `{"if":{"user":"^start$"},"do":[{"call":"Bash","id":"b","input":{"command":"until [ -e go ]; do sleep 0.01; done; echo it ends","run_in_background":true}}]}`
	for wake, want := range map[string]bool{"all": true, "agents": false} {
		w := hosttest.New(t, hosttest.Setting{Serving: true, Overrides: hosttest.AllowBash(), Tables: "[background]\nwake = '" + wake + "'\n"}, start,
			`{"if":{"result":"task_"},"do":[{"text":"it runs"}]}`, `{"if":{"user":"(?s)Background command task_.*it ends"},"do":[{"text":"it has ended"}]}`)
		e := w.Begin(false)
		e.Say("start")
		e.Events = nil
		w.File("go", "")
		if !want {
			if !quiet(w, e) {
				t.Error("a command has begun a turn")
			}
			continue
		}
		if end := e.End(); end.Terminal != protocol.TerminalCompleted || e.Messages()[len(e.Messages())-1].PlainText() != "it has ended" {
			t.Errorf("end: %+v %v", end, end.Error)
		}
	}
}

func TestATurnThatBeginsByItselfAsksNobodyWhoIsNotThereAndIsNoWiderThanTheLastOne(t *testing.T) {
	denied := `{"if":{"user":"(?s)Background agent task_.*piece one is there"},"do":[{"call":"Bash","id":"late","input":{"command":"touch made"}}]}`
	after := `{"if":{"result":"."},"again":true,"do":[{"text":"I could not"}]}`
	for name, c := range map[string]struct {
		options protocol.TurnOptions
		tables  string
		mode    string // of the session
	}{
		"bypass, of the message":       {options: protocol.TurnOptions{Mode: "bypassPermissions"}},
		"bypass, of the session":       {mode: "bypassPermissions"},
		"bypass, of the configuration": {tables: "[permissions]\nmode = 'bypassPermissions'\n"},
		"a rule that denies":           {options: protocol.TurnOptions{Allow: []string{"Bash"}, Deny: []string{"Bash(touch:*)"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Serving: true, Overrides: host.Overrides{Allow: []string{"Task"}}, Tables: c.tables}, append(behind(), denied, after)...)
			e := w.Begin(false)
			if c.mode != "" {
				e.Mode(c.mode)
			}
			e.With("start", c.options)
			w.Line("pid")
			e.Events = nil
			w.File("go", "")
			if end := e.End(); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			if r := e.LastResult(); !r.IsError || w.Exists("made") {
				t.Errorf("the call: %+v", r)
			}
		})
	}
}

func TestTurnsThatBeginByThemselvesComeToAnEnd(t *testing.T) {
	again := func(user string) string {
		return fmt.Sprintf(`{"if":{"user":%q},"again":true,"do":[{"call":"Task","input":{"description":"piece","prompt":"CHILD","background":true}}]}`, user)
	}
	w := hosttest.New(t, hosttest.Setting{Serving: true, Overrides: hosttest.AllowBash()}, again("^start$"), again("(?s)Background agent task_"),
		`{"if":{"user":"CHILD"},"again":true,"do":[{"text":"piece one is there"}]}`, `{"if":{"result":"works in the background"},"again":true,"do":[{"text":"I go on"}]}`)
	e := w.Begin(false)
	e.Send("start")
	e.Until(func(ev protocol.Event) bool {
		n, ok := ev.Body.(*protocol.Notice)
		return ok && strings.Contains(n.Text, "Background work has begun 10 turns in a row")
	})
	if holds := hosttest.Call[*protocol.SessionOpened](t, w.Connect(true), e.ID, &protocol.OpenSession{}).Holds; len(holds) != 1 || !strings.Contains(holds[0], "10 turns in a row") {
		t.Errorf("who opens it is told %q", holds)
	}
	begun := 0
	for _, m := range e.Messages() {
		if m.Role == protocol.RoleToolResult {
			begun++
		}
	}
	if begun != 11 {
		t.Errorf("%d agents began, of which the first was asked for", begun)
	}
}

func TestNothingBeginsByItselfAfterATurnThatWasCancelled(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Serving: true, Overrides: hosttest.AllowBash()}, hosttest.AgentCall("^start$", `,"background":true`, "CHILD 1"), hosttest.Shell("CHILD 1", "a", "echo done-1"),
		hosttest.Answer("done-1", "piece one is there"), `{"if":{"result":"works in the background"},"do":[{"call":"Bash","id":"w","input":{"command":"echo > up; sleep 600"}}]}`, toldOfIt, `{"if":{"user":"and now"},"do":[{"text":"I see"}]}`)
	e := w.Begin(false)
	turn := e.Send("start")
	w.Line("up")
	w.Eventually("the end of the agent", func() bool {
		return hosttest.Call[*protocol.TaskList](w.T, e.C, e.ID, &protocol.ListTasks{}).Tasks[0].State != protocol.TaskRunning
	})
	hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn})
	e.End()
	if !quiet(w, e) {
		t.Error("a turn was begun")
	}
	if end := e.Say("and now"); end.Terminal != protocol.TerminalCompleted || len(w.Notices(e.ID)) != 1 {
		t.Errorf("end: %+v, told %d times", end, len(w.Notices(e.ID)))
	}
}
