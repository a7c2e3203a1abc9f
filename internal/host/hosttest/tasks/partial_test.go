package tasks_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/host/hosttest"
	"scorel/internal/host/partial"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

const halfAnAnswer = `{"do":[{"text":"The first half of the answer."},{"hang":true}]}`

// inTheMiddle begins a turn whose answer stops in the middle, and waits until that is kept.
func inTheMiddle(t *testing.T, s hosttest.Setting, lines ...string) (*hosttest.World, *hosttest.Entry) {
	t.Helper()
	w := hosttest.New(t, s, append([]string{halfAnAnswer}, lines...)...)
	e := w.Begin(false)
	e.Send("count")
	w.Kept(string(e.ID)+".partial", "first half")
	return w, e
}

// cutOff returns the messages of a session that the host was killed in the middle of.
func cutOff(events []protocol.Event) (found []protocol.Event) {
	for _, e := range events {
		if m, ok := e.Message(); ok && m.Partial {
			found = append(found, e)
		}
	}
	return found
}

func TestTheHalfAnswerOfAKilledHostBecomesOneMessageOfTheAnnouncedID(t *testing.T) {
	w, e := inTheMiddle(t, hosttest.Setting{}, `{"if":{"user":"go on"},"do":[{"text":"The second half."}]}`)
	announced := e.Until(hosttest.OfType(protocol.TypeMessageStart)).Body.(*protocol.MessageStart)
	file := filepath.Join(w.Home, ".scorel", "pending", string(e.ID)+".partial")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	if log := w.Log(e.ID); len(cutOff(log)) > 0 {
		t.Fatalf("the log has it already: %v", log)
	}
	after := w.Killed()
	again := after.Open(after.Connect(true), e.ID)
	if again.S.Opened.Interrupted == "" {
		t.Error("the person is not offered to go on")
	}
	found := cutOff(after.Log(e.ID))
	if len(found) != 1 || found[0].ID != announced.EventID || found[0].ParentID != announced.ParentID {
		t.Fatalf("%+v, announced as %+v", found, announced)
	}
	m, _ := found[0].Message()
	if m.PlainText() != "The first half of the answer." || m.StopReason != protocol.StopError || m.ErrorMessage != protocol.HostStopped || m.Provider == "" || m.Model == "" {
		t.Errorf("%+v", m)
	}
	if files := after.PendingFiles(); len(files) > 0 {
		t.Errorf("%q", files)
	}
	if end := again.Say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v", end)
	}
	if !strings.Contains(after.LastRequest(), "The host stopped here, in the middle of this answer.") {
		t.Error("the model is not told")
	}
	if later := after.Open(after.Connect(true), e.ID); later.S.Opened.Interrupted != "" {
		t.Error("it is offered again")
	}
}

func TestAHalfAnswerIsTakenOverOnceWhereverThatIsStopped(t *testing.T) {
	w, e := inTheMiddle(t, hosttest.Setting{})
	name := string(e.ID) + ".partial"
	text := w.PendingFiles()[name]
	first := w.Killed()
	first.Open(first.Connect(false), e.ID)
	logName := filepath.Join("sessions", string(e.ID)+".jsonl")
	whole, err := os.ReadFile(filepath.Join(first.Home, ".scorel", logName))
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(w.Home, ".scorel", logName))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(whole, []byte("The first half"))
	for what, log := range map[string][]byte{
		"before the append":             before,
		"in the middle of the append":   whole[:at],
		"before the end of the line":    bytes.TrimSuffix(whole, []byte("\n")),
		"between append and removal":    whole,
		"in the middle of the removals": whole,
	} {
		t.Run(what, func(t *testing.T) {
			again := first.Killed()
			if err := again.Host.Close(); err != nil {
				t.Fatal(err)
			}
			for file, data := range map[string][]byte{logName: log, filepath.Join("pending", name): []byte(text)} {
				if err := os.WriteFile(filepath.Join(again.Home, ".scorel", file), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			again.Start()
			again.Open(again.Connect(false), e.ID)
			if found := cutOff(again.Log(e.ID)); len(found) != 1 {
				t.Errorf("it is there %d times", len(found))
			}
			if files := again.PendingFiles(); len(files) > 0 {
				t.Errorf("%q", files)
			}
		})
	}
}

func TestAHalfAnswerIsNoBranchWhereTheConversationHasGoneOn(t *testing.T) {
	w, e := inTheMiddle(t, hosttest.Setting{})
	after := w.Killed()
	if err := after.Host.Close(); err != nil {
		t.Fatal(err)
	}
	report := func(what string) { t.Error(what) }
	step := partial.NewStep(disk.OS(), filepath.Join(w.Home, ".scorel", "pending"), e.ID, partial.NewReports(report))
	answer, found, err := step.Load()
	if err != nil || !found {
		t.Fatal(found, err)
	}
	answer.ParentID = "evt_0000000000000000"
	if err := os.Remove(filepath.Join(after.Home, ".scorel", "pending", string(e.ID)+".partial")); err != nil {
		t.Fatal(err)
	}
	moved := partial.NewStep(disk.OS(), filepath.Join(after.Home, ".scorel", "pending"), e.ID, partial.NewReports(report))
	moved.Begin(answer)
	moved.Add(0, "The first half of the answer.")
	after.Kept(string(e.ID)+".partial", "first half")
	moved.Leave()
	after.Start()
	after.Start()
	after.Open(after.Connect(false), e.ID)
	told := 0
	for _, ev := range after.Log(e.ID) {
		if b, ok := ev.Body.(*protocol.HarnessItem); ok && strings.Contains(b.Item.Content, "The first half of the answer.") && b.Item.Visibility == protocol.VisibilityDisplay {
			told++
		}
	}
	if told != 1 || len(cutOff(after.Log(e.ID))) != 0 || len(after.PendingFiles()) > 0 {
		t.Errorf("told %d times, %q", told, after.PendingFiles())
	}
}

func TestAnAnswerThatEndsLeavesNoFile(t *testing.T) {
	w, e := inTheMiddle(t, hosttest.Setting{})
	turn := e.Until(hosttest.OfType(protocol.TypeMessageStart)).TurnID
	if !hosttest.Call[*protocol.Cancelled](t, e.C, e.ID, &protocol.Cancel{TurnID: turn}).Cancelled {
		t.Fatal("not cancelled")
	}
	e.End()
	if files := w.PendingFiles(); len(files) > 0 {
		t.Errorf("behind the turn: %q", files)
	}
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	if files := w.PendingFiles(); len(files) > 0 {
		t.Errorf("%q", files)
	}
	if found := cutOff(w.Log(e.ID)); len(found) != 1 {
		t.Errorf("%d partial messages", len(found))
	}
}

func TestDeletingASessionRemovesWhatAKilledHostHasLeft(t *testing.T) {
	w, e := inTheMiddle(t, hosttest.Setting{})
	after := w.Killed()
	dir := filepath.Join(after.Home, ".scorel", "pending")
	for _, name := range []string{string(e.ID) + ".task_abc.output", string(e.ID) + ".partial"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hosttest.Call[*protocol.Deleted](t, after.Connect(true), e.ID, &protocol.DeleteSession{})
	if files := after.PendingFiles(); len(files) > 0 {
		t.Errorf("%q", files)
	}
}

func TestABackgroundCommandOfAKilledHostIsToldOfWithItsLastLines(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()},
		`{"do":[{"call":"Bash","id":"c0","input":{"command":"echo line one; echo line two; sleep 600","run_in_background":true}}]}`,
		`{"do":[{"text":"It runs."}]}`, `{"if":{"user":"well"},"do":[{"text":"It is lost."}]}`)
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	id := hosttest.Call[*protocol.TaskList](t, e.C, e.ID, &protocol.ListTasks{}).Tasks[0].TaskID
	name := string(e.ID) + "." + id + ".output"
	w.Kept(name, "line two")
	after := w.Killed()
	for range 2 { // told once
		again := after.Open(after.Connect(false), e.ID)
		hosttest.Call[*protocol.Done](t, again.C, e.ID, &protocol.CloseSession{})
		after.Restart()
	}
	var told []protocol.Item
	for _, ev := range after.Log(e.ID) {
		if b, ok := ev.Body.(*protocol.HarnessItem); ok && strings.Contains(b.Item.Content, id) {
			told = append(told, b.Item)
		}
	}
	if len(told) != 1 || told[0].Kind != protocol.ItemRuntimeNotice || !strings.Contains(told[0].Content, "echo line one") || !strings.Contains(told[0].Content, "\n| line two") || !strings.Contains(told[0].Content, name) {
		t.Fatalf("%+v", told)
	}
	if !strings.Contains(after.PendingFiles()[name], "line one\nline two\n") {
		t.Errorf("%q", after.PendingFiles())
	}
	again := after.Open(after.Connect(false), e.ID)
	if said := again.S.Opened.Interrupted; !strings.Contains(said, id+" was lost when the host was killed (echo line one;") || strings.Contains(said, protocol.HostStoppedBefore) {
		t.Errorf("the person is told %q", said)
	}
	if end := again.Say("well"); end.Terminal != protocol.TerminalCompleted || !strings.Contains(after.LastRequest(), "was running when the host was killed") {
		t.Errorf("end: %+v", end)
	}
	// One that ends as it should leaves no file.
	if err := w.Host.Close(); err != nil {
		t.Fatal(err)
	}
	if files := w.PendingFiles(); len(files) > 0 {
		t.Errorf("%q", files)
	}
}

func TestALongHalfAnswerIsKeptUpToItsBound(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Chunk: 20_000}, `{"do":[{"text":"0123456789abcdef","times":100000},{"hang":true}]}`)
	e := w.Begin(false)
	e.Send("count")
	w.Kept(string(e.ID)+".partial", `"cut":true`)
	after := w.Killed()
	after.Open(after.Connect(false), e.ID)
	found := cutOff(after.Log(e.ID))
	if len(found) != 1 {
		t.Fatal(len(found))
	}
	m, _ := found[0].Message()
	if n := len(m.PlainText()); n != 1<<20 || !strings.Contains(m.ErrorMessage, "Only its first 1048576 bytes") {
		t.Errorf("%d bytes: %s", n, m.ErrorMessage)
	}
}

// TestTheEndOfABackgroundCommandSurvivesAKill: people saw that it ended, so the next host does
// not call it lost, though no turn had told the model of it yet.
func TestTheEndOfABackgroundCommandSurvivesAKill(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()},
		`{"do":[{"call":"Bash","id":"c0","input":{"command":"echo line one; while [ ! -e go ]; do sleep 0.02; done; exit 3","run_in_background":true}}]}`,
		`{"do":[{"text":"It runs."}]}`, `{"if":{"user":"well"},"do":[{"text":"It has ended."}]}`)
	e := w.Begin(false)
	e.Say("start")
	w.File("go", "")
	var id string
	w.Eventually("people are told of the end", func() bool {
		l := hosttest.Call[*protocol.TaskList](t, e.C, e.ID, &protocol.ListTasks{}).Tasks[0]
		id = l.TaskID
		return l.State == protocol.TaskExited
	})
	name := string(e.ID) + "." + id + ".output"
	w.Kept(name, `"exitCode":3`)
	after := w.Killed()
	again := after.Open(after.Connect(false), e.ID)
	again.Say("well")
	request := after.LastRequest()
	if !strings.Contains(request, "(exit code 3). The host was killed before you were told.") || strings.Contains(request, "was running when the host was killed") || !strings.Contains(request, "| line one") {
		t.Errorf("the model is told %s", request)
	}
	for _, ev := range after.Log(e.ID) {
		var n protocol.TaskNotice
		if b, ok := ev.Body.(*protocol.HarnessItem); ok && json.Unmarshal(b.Item.Data, &n) == nil && n.TaskID == id && (n.State != protocol.TaskExited || n.ExitCode == nil || *n.ExitCode != 3) {
			t.Errorf("people are told %+v", n)
		}
	}
}

func TestPeopleAreToldOnceATurnThatWhatRunsIsNotKept(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{},
		`{"do":[{"text":"one"},{"call":"Read","input":{"file_path":"x"}}]}`,
		`{"do":[{"text":"three"}]}`, `{"do":[{"text":"four"}]}`)
	w.Write(filepath.Join(w.Home, ".scorel", "pending"), "a file\n")
	e := w.Begin(false)
	for range 2 {
		e.Send("count")
		notices := 0
		e.Until(func(ev protocol.Event) bool {
			if b, ok := ev.Body.(*protocol.Notice); ok && strings.Contains(b.Text, "is lost if the host is killed") {
				if notices++; b.Level != "warning" || !strings.Contains(b.Text, "not a directory") {
					t.Errorf("%+v", b)
				}
			}
			return ev.Type == protocol.TypeRuntimeEnd
		})
		if notices != 1 {
			t.Errorf("told %d times", notices)
		}
	}
}
