package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/host"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

func allowBash() host.Overrides { return host.Overrides{Allow: []string{"Bash"}} }

// until waits until a file of the project holds a line, and gives that.
func (w *world) line(name string) string {
	w.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if data, err := os.ReadFile(filepath.Join(w.project, name)); err == nil && strings.HasSuffix(string(data), "\n") {
			return strings.TrimSpace(string(data))
		}
		<-time.After(2 * time.Millisecond)
	}
	w.t.Fatalf("%s is not written", name)
	return ""
}

// gone waits until a process has ended.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil || n < 2 {
		t.Fatalf("%q is no process", pid)
	}
	for deadline := time.Now().Add(patience); syscall.Kill(n, 0) == nil; {
		if stat, _ := os.ReadFile("/proc/" + pid + "/stat"); strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s still runs", pid)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && syscall.Kill(n, 0) == nil
}

// notices gives the harness items about background commands in the log.
func (w *world) notices(id protocol.SessionID) []protocol.Event {
	var out []protocol.Event
	for _, e := range w.log(id) {
		if b, ok := e.Body.(*protocol.HarnessItem); ok && b.Item.Origin == protocol.OriginTool && b.Item.Kind == protocol.ItemRuntimeNotice {
			out = append(out, e)
		}
	}
	return out
}

// serve starts a command that writes its pid and runs until a file go is there,
// with a grandchild that writes its own and does not hold the output.
const serve = `{"do":[{"call":"Bash","id":"c1","input":{"command":"(echo $BASHPID > inner; exec sleep 1000 >/dev/null 2>&1) & echo $$ > outer; echo up; until [ -e go ]; do sleep 0.01; done; echo bye; exit 3","run_in_background":true}}]}`

func TestACommandThatEndsWhileIdleIsToldBeforeTheNextMessage(t *testing.T) {
	for i, api := range apis() {
		t.Run(api, func(t *testing.T) {
			command := serve
			if i == 0 { // one whose grandchild holds the output, for which the end waits two seconds
				command = strings.Replace(serve, " >/dev/null 2>&1", "", 1)
			}
			w := newWorld(t, setting{api: api, overrides: allowBash()}, command, `{"do":[{"text":"it runs"}]}`,
				`{"if":{"user":"(?s)ended after .*exit code 3.*data, not instructions.*\\| bye.*and now"},"do":[{"text":"I know"}]}`, `{"if":{"user":"later"},"do":[{"text":"nothing new"}]}`)
			e := w.begin(false)
			if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			tasks := call[*protocol.TaskList](t, e.c, e.id, &protocol.ListTasks{}).Tasks
			if len(tasks) != 1 || tasks[0].State != protocol.TaskRunning || tasks[0].ToolCallID != "c1" || tasks[0].Bytes != 3 || tasks[0].StartedAt == 0 {
				t.Fatalf("%+v", tasks)
			}
			inner := w.line("inner")
			w.file("go", "")
			gone(t, w.line("outer"))
			for tasks[0].State == protocol.TaskRunning {
				<-time.After(2 * time.Millisecond)
				tasks = call[*protocol.TaskList](t, e.c, e.id, &protocol.ListTasks{}).Tasks
			}
			gone(t, inner)
			if tasks[0].State != protocol.TaskExited || tasks[0].ExitCode == nil || *tasks[0].ExitCode != 3 {
				t.Errorf("%+v", tasks[0])
			}
			if n := w.notices(e.id); len(n) != 0 {
				t.Errorf("while nothing runs it stands in the log: %d", len(n))
			}
			if end := e.say("and now"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v", end, end.Error)
			}
			e.say("later")
			n := w.notices(e.id)
			if len(n) != 1 {
				t.Fatalf("it was told %d times", len(n))
			}
			for _, ev := range w.log(e.id) {
				if m, ok := ev.Message(); ok && m.PlainText() == "and now" && ev.ParentID != n[0].ID {
					t.Error("the notice does not stand before the message")
				}
			}
			w.judged()
		})
	}
}

// ended lets the command of serve end and waits until the host knows.
func (w *world) ended(e *entry) {
	w.t.Helper()
	w.file("go", "")
	for call[*protocol.TaskList](w.t, e.c, e.id, &protocol.ListTasks{}).Tasks[0].State == protocol.TaskRunning {
		<-time.After(2 * time.Millisecond)
	}
}

func TestAnEndThatCouldNotBeStoredIsToldLater(t *testing.T) {
	f := &failing{FS: disk.OS()}
	w := newWorld(t, setting{fs: f, overrides: allowBash()}, serve, `{"do":[{"text":"it runs"}]}`,
		`{"if":{"user":"(?s)exit code 3.*\\| bye.*once more"},"do":[{"text":"I know"}]}`, `{"do":[{"text":"fine"}]}`)
	e := w.begin(false)
	e.say("start")
	w.ended(e)
	e.events = nil
	f.arm(1, syscall.EIO)
	if _, err := client.Call[*protocol.Sent](t.Context(), e.c, e.id, &protocol.SendMessage{Content: []protocol.Block{protocol.Text("and now")}}); err == nil {
		t.Fatal("the message was stored")
	}
	e.end()
	f.repair()
	if n := w.notices(e.id); len(n) != 0 {
		t.Fatalf("%d notices were stored", len(n))
	}
	if end := e.say("once more"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	e.say("later")
	if n := len(w.notices(e.id)); n != 1 {
		t.Errorf("it was told %d times", n)
	}
	w.judged()
}

func TestAnEndThatALostResultToldIsToldLater(t *testing.T) {
	f := &failing{FS: disk.OS()}
	w := newWorld(t, setting{fs: f, overrides: allowBash()}, serve,
		`{"do":[{"call":"TaskOutput","id":"c2","input":{"wait_seconds":60,"filter":"never"},"fill":{"task_id":"task_[0-9a-v]{8}"}}]}`,
		`{"if":{"result":"(?s)system-reminder.*exit code 3"},"do":[{"text":"I know"}]}`)
	e := w.begin(false)
	e.send("start")
	e.until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.ToolExecutionStart)
		return ok && b.ToolName == "TaskOutput"
	})
	f.arm(1, syscall.EIO)
	w.file("go", "")
	if end := e.end(); end.Terminal != protocol.TerminalStorageError {
		t.Fatalf("the result was stored: %+v", end)
	}
	f.repair()
	if end := e.say("once more"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	w.judged()
}

func TestAnEndIsToldOnEachPathThatKnowsTheCommand(t *testing.T) {
	const told = `(?s)exit code 3.*\\| bye.*`
	w := newWorld(t, setting{overrides: allowBash()}, `{"if":{"user":"begin"},"do":[{"text":"hello"}]}`, serve, `{"do":[{"text":"it runs"}]}`,
		`{"if":{"user":"`+told+`first path"},"do":[{"text":"I know"}]}`, `{"if":{"user":"`+told+`second path"},"do":[{"text":"I know too"}]}`,
		`{"if":{"user":"^back"},"do":[{"text":"nothing new"}]}`, `{"if":{"user":"^before"},"do":[{"text":"never heard of it"}]}`)
	e := w.begin(false)
	e.say("begin")
	before := e.s.Live.LeafID
	e.say("start")
	runs := e.s.Live.LeafID
	w.ended(e)
	e.say("first path")
	first := e.s.Live.LeafID
	for _, c := range []struct {
		to      protocol.EventID
		say     string
		notices int
	}{{runs, "second path", 2}, {first, "back", 2}, {before, "before", 2}} {
		call[*protocol.Moved](t, e.c, e.id, &protocol.BranchTo{LeafEventID: c.to})
		if end := e.say(c.say); end.Terminal != protocol.TerminalCompleted {
			t.Fatalf("%s: %+v %v", c.say, end, end.Error)
		}
		if n := len(w.notices(e.id)); n != c.notices {
			t.Errorf("%s: told %d times, want %d", c.say, n, c.notices)
		}
	}
	w.judged()
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
			w := newWorld(t, setting{overrides: allowBash()}, serve, `{"do":[`+c.call+`]}`,
				`{"if":{"result":"`+c.result+`"},"do":[{"text":"done"}]}`, `{"do":[{"text":"again"}]}`)
			e := w.begin(false)
			if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v %v\n%s", end, end.Error, e.trace())
			}
			e.say("more")
			if n := len(w.notices(e.id)); n != c.told {
				t.Errorf("%d notices, want %d", n, c.told)
			}
			paired(t, e.messages())
			w.judged()
		})
	}
}

func TestASteeringMessageComesBehindWhatHappenedBefore(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash()}, serve,
		`{"do":[{"call":"Bash","id":"c2","input":{"command":"touch go; while [ -e /proc/$(cat outer) ]; do sleep 0.01; done; sleep 0.2; echo ready > ready; until [ -e on ]; do sleep 0.01; done"}}]}`,
		`{"if":{"result":"(?s)exit code 3.*hurry"},"do":[{"text":"done"}]}`)
	e := w.begin(false)
	e.send("start")
	w.line("ready")
	call[*protocol.Sent](t, e.c, e.id, &protocol.Steer{Content: []protocol.Block{protocol.Text("hurry")}})
	w.file("on", "")
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	w.judged()
}

func TestClosingTheHostEndsBackgroundCommandsAlsoInMidTurn(t *testing.T) {
	const closed = `(?s)was ended, because its session was closed`
	for _, c := range []struct{ name, told, then string }{
		{"idle", `"user":"` + closed + `.*go on"`, `{"do":[{"text":"it runs"}]}`},
		{"in mid-turn", `"result":"` + closed + `"`, `{"do":[{"call":"TaskOutput","id":"c2","input":{"wait_seconds":600,"filter":"never"},"fill":{"task_id":"task_[0-9a-v]{8}"}}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, setting{overrides: allowBash()}, serve, c.then,
				`{"if":{`+c.told+`},"do":[{"call":"TaskOutput","id":"c3","input":{},"fill":{"task_id":"task_[0-9a-v]{8}"}}]}`,
				`{"if":{"result":"ended with the host"},"do":[{"text":"so it is"}]}`)
			e := w.begin(false)
			e.send("start")
			outer, inner := w.line("outer"), w.line("inner")
			if c.name == "idle" {
				e.end()
			} else {
				e.until(func(ev protocol.Event) bool {
					b, ok := ev.Body.(*protocol.ToolExecutionStart)
					return ok && b.ToolName == "TaskOutput"
				})
			}
			w.restart()
			gone(t, outer)
			gone(t, inner)
			if n := w.notices(e.id); len(n) != 1 {
				t.Errorf("%d notices", len(n))
			}
			if dirs, _ := filepath.Glob(filepath.Join(w.home, ".scorel", "run", "*", "*")); len(dirs) != 0 {
				t.Errorf("records are left: %v", dirs)
			}
			again := w.open(w.connect(false), e.id)
			if end := again.say("go on"); end.Terminal != protocol.TerminalCompleted {
				t.Errorf("end: %+v %v", end, end.Error)
			}
			w.judged()
		})
	}
}

func TestASessionStaysOpenWhileACommandRuns(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash()}, serve, `{"do":[{"text":"it runs"}]}`)
	e := w.begin(false)
	e.say("start")
	outer := w.line("outer")
	if err := e.c.Close(); err != nil {
		t.Fatal(err)
	}
	other := w.connect(false)
	tasks := call[*protocol.TaskList](t, other, e.id, &protocol.ListTasks{}).Tasks
	if len(tasks) != 1 || tasks[0].State != protocol.TaskRunning || !alive(outer) {
		t.Fatalf("the command ended with its last client: %+v", tasks)
	}
	if err := refused(t, other, e.id, &protocol.DeleteSession{}, protocol.CodeSessionLocked); !strings.Contains(err.Message, "(1); stop them") {
		t.Error(err.Message)
	}
	refused(t, other, e.id, &protocol.StopTask{TaskID: "task_none"}, protocol.CodeInvalidRequest)
	info := call[*protocol.TaskInfo](t, other, e.id, &protocol.StopTask{TaskID: tasks[0].TaskID})
	if info.State != protocol.TaskStopped || info.EndedAt == 0 {
		t.Errorf("%+v", info)
	}
	gone(t, outer)
	// Its end closes the session, which nobody has, and records what happened.
	for deadline := time.Now().Add(patience); len(w.notices(e.id)) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the session is not closed")
		}
		<-time.After(2 * time.Millisecond)
	}
	call[*protocol.Deleted](t, other, e.id, &protocol.DeleteSession{})
}

func TestAFloodOfMatchesFillsNeitherLogNorContext(t *testing.T) {
	lines := []string{`{"do":[{"call":"Bash","id":"c0","input":{"command":"until [ -e go ]; do sleep 0.01; done; yes 'ERROR in the flood of errors'","run_in_background":true}}]}`,
		`{"do":[{"call":"Monitor","id":"c1","input":{"pattern":"ERROR"},"fill":{"task_id":"task_[0-9a-v]{8}"}},{"call":"Bash","id":"c2","input":{"command":"touch go"}}]}`}
	for i := range 25 { // not the same step again and again, which would end the run
		lines = append(lines, fmt.Sprintf(`{"do":[{"call":"Bash","input":{"command":"sleep 0.02; echo %d"}}]}`, i))
	}
	lines = append(lines, `{"do":[{"text":"done"}]}`)
	w := newWorld(t, setting{overrides: allowBash()}, lines...)
	e := w.begin(false)
	if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	bytes := 0
	for _, n := range w.notices(e.id) {
		bytes += len(n.Body.(*protocol.HarnessItem).Item.Content)
	}
	if n := len(w.notices(e.id)); n < 2 || n > 7 || bytes > 7*5000 {
		t.Errorf("%d notices with %d bytes", n, bytes)
	}
	last := w.server.Requests()[len(w.server.Requests())-1]
	if len(last.Body) > 120_000 {
		t.Errorf("the request has %d bytes", len(last.Body))
	}
}
