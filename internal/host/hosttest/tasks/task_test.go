package tasks_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && syscall.Kill(n, 0) == nil
}

func TestACommandThatEndsWhileIdleIsToldBeforeTheNextMessage(t *testing.T) {
	for i, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			command := hosttest.Serve
			if i == 0 { // one whose grandchild holds the output, for which the end waits two seconds
				command = strings.Replace(hosttest.Serve, " >/dev/null 2>&1", "", 1)
			}
			w := hosttest.New(t, hosttest.Setting{API: api, Overrides: hosttest.AllowBash()}, command, `{"do":[{"text":"it runs"}]}`,
				`{"if":{"user":"(?s)ended after .*exit code 3.*data, not instructions.*\\| bye.*and now"},"do":[{"text":"I know"}]}`, `{"if":{"user":"later"},"do":[{"text":"nothing new"}]}`)
			e := w.Begin(false)
			if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			tasks := hosttest.Call[*protocol.TaskList](t, e.C, e.ID, &protocol.ListTasks{}).Tasks
			if len(tasks) != 1 || tasks[0].State != protocol.TaskRunning || tasks[0].ToolCallID != "c1" || tasks[0].Bytes != 3 || tasks[0].StartedAt == 0 {
				t.Fatalf("%+v", tasks)
			}
			inner := w.Line("inner")
			w.File("go", "")
			hosttest.Gone(t, w.Line("outer"))
			for tasks[0].State == protocol.TaskRunning {
				<-time.After(2 * time.Millisecond)
				tasks = hosttest.Call[*protocol.TaskList](t, e.C, e.ID, &protocol.ListTasks{}).Tasks
			}
			hosttest.Gone(t, inner)
			if tasks[0].State != protocol.TaskExited || tasks[0].ExitCode == nil || *tasks[0].ExitCode != 3 {
				t.Errorf("%+v", tasks[0])
			}
			if n := w.Notices(e.ID); len(n) != 0 {
				t.Errorf("while nothing runs it stands in the log: %d", len(n))
			}
			if end := e.Say("and now"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			e.Say("later")
			n := w.Notices(e.ID)
			if len(n) != 1 {
				t.Fatalf("it was told %d times", len(n))
			}
			for _, ev := range w.Log(e.ID) {
				if m, ok := ev.Message(); ok && m.PlainText() == "and now" && ev.ParentID != n[0].ID {
					t.Error("the notice does not stand before the message")
				}
			}
			w.Judged()
		})
	}
}

func TestAnEndThatCouldNotBeStoredIsToldLater(t *testing.T) {
	f := &hosttest.Failing{FS: disk.OS()}
	w := hosttest.New(t, hosttest.Setting{Fs: f, Overrides: hosttest.AllowBash()}, hosttest.Serve, `{"do":[{"text":"it runs"}]}`,
		`{"if":{"user":"(?s)exit code 3.*\\| bye.*once more"},"do":[{"text":"I know"}]}`, `{"do":[{"text":"fine"}]}`)
	e := w.Begin(false)
	e.Say("start")
	w.Ended(e)
	e.Events = nil
	f.Arm(1, syscall.EIO)
	if _, err := client.Call[*protocol.Sent](t.Context(), e.C, e.ID, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("and now")}}); err == nil {
		t.Fatal("the message was stored")
	}
	e.End()
	f.Repair()
	if n := w.Notices(e.ID); len(n) != 0 {
		t.Fatalf("%d notices were stored", len(n))
	}
	if end := e.Say("once more"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	e.Say("later")
	if n := len(w.Notices(e.ID)); n != 1 {
		t.Errorf("it was told %d times", n)
	}
	w.Judged()
}

func TestAnEndThatALostResultToldIsToldLater(t *testing.T) {
	f := &hosttest.Failing{FS: disk.OS()}
	w := hosttest.New(t, hosttest.Setting{Fs: f, Overrides: hosttest.AllowBash()}, hosttest.Serve,
		`{"do":[{"call":"TaskOutput","id":"c2","input":{"wait_seconds":60,"filter":"never"},"fill":{"task_id":"task_[0-9a-v]{8}"}}]}`,
		`{"if":{"result":"(?s)system-reminder.*exit code 3"},"do":[{"text":"I know"}]}`)
	e := w.Begin(false)
	e.Send("start")
	e.Until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.ToolExecutionStart)
		return ok && b.ToolName == "TaskOutput"
	})
	f.Arm(1, syscall.EIO)
	w.File("go", "")
	if end := e.End(); end.Terminal != protocol.TerminalStorageError {
		t.Fatalf("the result was stored: %+v", end)
	}
	f.Repair()
	if end := e.Say("once more"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	w.Judged()
}

func TestAnEndIsToldOnEachPathThatKnowsTheCommand(t *testing.T) {
	const told = `(?s)exit code 3.*\\| bye.*`
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, `{"if":{"user":"begin"},"do":[{"text":"hello"}]}`, hosttest.Serve, `{"do":[{"text":"it runs"}]}`,
		`{"if":{"user":"`+told+`first path"},"do":[{"text":"I know"}]}`, `{"if":{"user":"`+told+`second path"},"do":[{"text":"I know too"}]}`,
		`{"if":{"user":"^back"},"do":[{"text":"nothing new"}]}`, `{"if":{"user":"^before"},"do":[{"text":"never heard of it"}]}`)
	e := w.Begin(false)
	e.Say("begin")
	before := e.S.Live.LeafID
	e.Say("start")
	runs := e.S.Live.LeafID
	w.Ended(e)
	e.Say("first path")
	first := e.S.Live.LeafID
	for _, c := range []struct {
		to      protocol.EventID
		say     string
		notices int
	}{{runs, "second path", 2}, {first, "back", 2}, {before, "before", 2}} {
		hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.BranchTo{LeafEventID: c.to})
		if end := e.Say(c.say); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("%s: %+v %v", c.say, end, end.Error)
		}
		if n := len(w.Notices(e.ID)); n != c.notices {
			t.Errorf("%s: told %d times, want %d", c.say, n, c.notices)
		}
	}
	w.Judged()
}

func TestACommandThatEndsInATurnIsToldAtTheNextStep(t *testing.T) {
	for _, c := range []struct {
		name, call, result string
		told               int // notices
	}{
		{"without reading it", `{"call":"Bash","id":"c2","input":{"command":"touch go; while [ -e /proc/$(cat outer) ]; do sleep 0.01; done; sleep 0.2"}}`,
			`(?s)exit code 0\\].*system-reminder.*exit code 3`, 1},
		{"while waiting for it", `{"call":"Bash","id":"c2","input":{"command":"touch go"}},{"call":"TaskOutput","id":"c3","input":{"wait_seconds":60,"filter":"no such line"},"fill":{"task_id":"task_[0-9a-v]{8}"}}`,
			`exit code 3.*waited .*: the command ended`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.Serve, `{"do":[`+c.call+`]}`,
				`{"if":{"result":"`+c.result+`"},"do":[{"text":"done"}]}`, `{"do":[{"text":"again"}]}`)
			e := w.Begin(false)
			if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v\n%s", end, end.Error, e.Trace())
			}
			e.Say("more")
			if n := len(w.Notices(e.ID)); n != c.told {
				t.Errorf("%d notices, want %d", n, c.told)
			}
			hosttest.Paired(t, e.Messages())
			w.Judged()
		})
	}
}

func TestASteeringMessageComesBehindWhatHappenedBefore(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.Serve,
		`{"do":[{"call":"Bash","id":"c2","input":{"command":"touch go; while [ -e /proc/$(cat outer) ]; do sleep 0.01; done; sleep 0.2; echo ready > ready; until [ -e on ]; do sleep 0.01; done"}}]}`,
		`{"if":{"result":"(?s)exit code 3.*hurry"},"do":[{"text":"done"}]}`)
	e := w.Begin(false)
	e.Send("start")
	w.Line("ready")
	hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.Steer{Content: []protocol.Block{protocol.Text("hurry")}})
	w.File("on", "")
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	w.Judged()
}

func TestClosingTheHostEndsBackgroundCommandsAlsoInMidTurn(t *testing.T) {
	const closed = `(?s)was ended, because its session was closed`
	for _, c := range []struct{ name, told, then string }{
		{"idle", `"user":"` + closed + `.*go on"`, `{"do":[{"text":"it runs"}]}`},
		{"in mid-turn", `"result":"` + closed + `"`, `{"do":[{"call":"TaskOutput","id":"c2","input":{"wait_seconds":600,"filter":"never"},"fill":{"task_id":"task_[0-9a-v]{8}"}}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.Serve, c.then,
				`{"if":{`+c.told+`},"do":[{"call":"TaskOutput","id":"c3","input":{},"fill":{"task_id":"task_[0-9a-v]{8}"}}]}`,
				`{"if":{"result":"ended with the host"},"do":[{"text":"so it is"}]}`)
			e := w.Begin(false)
			e.Send("start")
			outer, inner := w.Line("outer"), w.Line("inner")
			if c.name == "idle" {
				e.End()
			} else {
				e.Until(func(ev protocol.Event) bool {
					b, ok := ev.Body.(*protocol.ToolExecutionStart)
					return ok && b.ToolName == "TaskOutput"
				})
			}
			w.Restart()
			hosttest.Gone(t, outer)
			hosttest.Gone(t, inner)
			if n := w.Notices(e.ID); len(n) != 1 {
				t.Errorf("%d notices", len(n))
			}
			if dirs, _ := filepath.Glob(filepath.Join(w.Home, ".scorel", "run", "*", "*")); len(dirs) != 0 {
				t.Errorf("records are left: %v", dirs)
			}
			again := w.Open(w.Connect(false), e.ID)
			if end := again.Say("go on"); end.Terminal != protocol.TerminalCompleted {
				t.Errorf("end: %+v %v", end, end.Error)
			}
			w.Judged()
		})
	}
}

func TestASessionStaysOpenWhileACommandRuns(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.Serve, `{"do":[{"text":"it runs"}]}`)
	e := w.Begin(false)
	e.Say("start")
	outer := w.Line("outer")
	if err := e.C.Close(); err != nil {
		t.Fatal(err)
	}
	other := w.Connect(false)
	tasks := hosttest.Call[*protocol.TaskList](t, other, e.ID, &protocol.ListTasks{}).Tasks
	if len(tasks) != 1 || tasks[0].State != protocol.TaskRunning || !alive(outer) {
		t.Fatalf("the command ended with its last client: %+v", tasks)
	}
	if err := hosttest.Refused(t, other, e.ID, &protocol.DeleteSession{}, protocol.CodeSessionLocked); !strings.Contains(err.Message, "(1); stop them") {
		t.Error(err.Message)
	}
	hosttest.Refused(t, other, e.ID, &protocol.StopTask{TaskID: "task_none"}, protocol.CodeNotFound)
	hosttest.Refused(t, other, e.ID, &protocol.GetTaskOutput{TaskID: "task_none"}, protocol.CodeNotFound)
	info := hosttest.Call[*protocol.TaskInfo](t, other, e.ID, &protocol.StopTask{TaskID: tasks[0].TaskID})
	if info.State != protocol.TaskStopped || info.EndedAt == 0 {
		t.Errorf("%+v", info)
	}
	hosttest.Gone(t, outer)
	// Its end closes the session, which nobody has, and records what happened.
	for deadline := time.Now().Add(hosttest.Patience); len(w.Notices(e.ID)) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the session is not closed")
		}
		<-time.After(2 * time.Millisecond)
	}
	hosttest.Call[*protocol.Deleted](t, other, e.ID, &protocol.DeleteSession{})
}

func TestAFloodOfMatchesFillsNeitherLogNorContext(t *testing.T) {
	lines := []string{`{"do":[{"call":"Bash","id":"c0","input":{"command":"until [ -e go ]; do sleep 0.01; done; yes 'ERROR in the flood of errors'","run_in_background":true}}]}`,
		`{"do":[{"call":"Monitor","id":"c1","input":{"pattern":"ERROR"},"fill":{"task_id":"task_[0-9a-v]{8}"}},{"call":"Bash","id":"c2","input":{"command":"touch go"}}]}`}
	for i := range 25 { // not the same step again and again, which would end the run
		lines = append(lines, fmt.Sprintf(`{"do":[{"call":"Bash","input":{"command":"sleep 0.02; echo %d"}}]}`, i))
	}
	lines = append(lines, `{"do":[{"text":"done"}]}`)
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, lines...)
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	bytes := 0
	for _, n := range w.Notices(e.ID) {
		bytes += len(n.Body.(*protocol.HarnessItem).Item.Content)
	}
	if n := len(w.Notices(e.ID)); n < 2 || n > 7 || bytes > 7*5000 {
		t.Errorf("%d notices with %d bytes", n, bytes)
	}
	last := w.Server.Requests()[len(w.Server.Requests())-1]
	if len(last.Body) > 120_000 {
		t.Errorf("the request has %d bytes", len(last.Body))
	}
}
