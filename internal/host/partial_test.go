package host_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scorel/internal/host/partial"
	"scorel/internal/platform/disk"
	"scorel/protocol"
)

const halfAnAnswer = `{"do":[{"text":"The first half of the answer."},{"hang":true}]}`

// pendingFiles are the names in the folder pending, but for marks of queues.
func (w *world) pendingFiles() map[string]string {
	w.t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(filepath.Join(w.home, ".scorel", "pending"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.Contains(e.Name(), ".") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(w.home, ".scorel", "pending", e.Name()))
		if err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
		files[e.Name()] = string(data)
	}
	return files
}

// kept waits until a file in the folder pending has a text.
func (w *world) kept(name, text string) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(w.pendingFiles()[name], text); {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s has no %q: %q", name, text, w.pendingFiles())
		}
		<-time.After(2 * time.Millisecond)
	}
}

// inTheMiddle begins a turn whose answer stops in the middle, and waits until that is kept.
func inTheMiddle(t *testing.T, s setting, lines ...string) (*world, *entry) {
	t.Helper()
	w := newWorld(t, s, append([]string{halfAnAnswer}, lines...)...)
	e := w.begin(false)
	e.send("count")
	w.kept(string(e.id)+".partial", "first half")
	return w, e
}

// cutOff gives the messages of a session that the host was killed in the middle of.
func cutOff(events []protocol.Event) (found []protocol.Event) {
	for _, e := range events {
		if m, ok := e.Message(); ok && m.Partial {
			found = append(found, e)
		}
	}
	return found
}

func TestTheHalfAnswerOfAKilledHostBecomesOneMessageOfTheAnnouncedID(t *testing.T) {
	w, e := inTheMiddle(t, setting{}, `{"if":{"user":"go on"},"do":[{"text":"The second half."}]}`)
	announced := e.until(ofType(protocol.TypeMessageStart)).Body.(*protocol.MessageStart)
	file := filepath.Join(w.home, ".scorel", "pending", string(e.id)+".partial")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	if log := w.log(e.id); len(cutOff(log)) > 0 {
		t.Fatalf("the log has it already: %v", log)
	}
	after := w.killed()
	again := after.open(after.connect(true), e.id)
	if again.s.Opened.Interrupted == "" {
		t.Error("the person is not offered to go on")
	}
	found := cutOff(after.log(e.id))
	if len(found) != 1 || found[0].ID != announced.EventID || found[0].ParentID != announced.ParentID {
		t.Fatalf("%+v, announced as %+v", found, announced)
	}
	m, _ := found[0].Message()
	if m.PlainText() != "The first half of the answer." || m.StopReason != protocol.StopError || m.ErrorMessage != protocol.HostStopped || m.Provider == "" || m.Model == "" {
		t.Errorf("%+v", m)
	}
	if files := after.pendingFiles(); len(files) > 0 {
		t.Errorf("%q", files)
	}
	if end := again.say("go on"); end.Terminal != protocol.TerminalCompleted {
		t.Errorf("end: %+v", end)
	}
	if !strings.Contains(after.lastRequest(), "The host stopped here, in the middle of this answer.") {
		t.Error("the model is not told")
	}
	if later := after.open(after.connect(true), e.id); later.s.Opened.Interrupted != "" {
		t.Error("it is offered again")
	}
}

func TestAHalfAnswerIsTakenOverOnceWhereverThatIsStopped(t *testing.T) {
	w, e := inTheMiddle(t, setting{})
	name := string(e.id) + ".partial"
	text := w.pendingFiles()[name]
	first := w.killed()
	first.open(first.connect(false), e.id)
	logName := filepath.Join("sessions", string(e.id)+".jsonl")
	whole, err := os.ReadFile(filepath.Join(first.home, ".scorel", logName))
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(w.home, ".scorel", logName))
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
			again := first.killed()
			if err := again.host.Close(); err != nil {
				t.Fatal(err)
			}
			for file, data := range map[string][]byte{logName: log, filepath.Join("pending", name): []byte(text)} {
				if err := os.WriteFile(filepath.Join(again.home, ".scorel", file), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			again.start()
			again.open(again.connect(false), e.id)
			if found := cutOff(again.log(e.id)); len(found) != 1 {
				t.Errorf("it is there %d times", len(found))
			}
			if files := again.pendingFiles(); len(files) > 0 {
				t.Errorf("%q", files)
			}
		})
	}
}

func TestAHalfAnswerIsNoBranchWhereTheConversationHasGoneOn(t *testing.T) {
	w, e := inTheMiddle(t, setting{})
	after := w.killed()
	if err := after.host.Close(); err != nil {
		t.Fatal(err)
	}
	report := func(what string) { t.Error(what) }
	step := partial.NewStep(disk.OS(), filepath.Join(w.home, ".scorel", "pending"), e.id, report)
	answer, found, err := step.Load()
	if err != nil || !found {
		t.Fatal(found, err)
	}
	answer.ParentID = "evt_0000000000000000"
	if err := os.Remove(filepath.Join(after.home, ".scorel", "pending", string(e.id)+".partial")); err != nil {
		t.Fatal(err)
	}
	moved := partial.NewStep(disk.OS(), filepath.Join(after.home, ".scorel", "pending"), e.id, report)
	moved.Begin(answer)
	moved.Add(0, "The first half of the answer.")
	after.kept(string(e.id)+".partial", "first half")
	moved.Leave()
	after.start()
	after.start()
	after.open(after.connect(false), e.id)
	told := 0
	for _, ev := range after.log(e.id) {
		if b, ok := ev.Body.(*protocol.HarnessItem); ok && strings.Contains(b.Item.Content, "The first half of the answer.") && b.Item.Visibility == protocol.VisibilityDisplay {
			told++
		}
	}
	if told != 1 || len(cutOff(after.log(e.id))) != 0 || len(after.pendingFiles()) > 0 {
		t.Errorf("told %d times, %q", told, after.pendingFiles())
	}
}

func TestAnAnswerThatEndsLeavesNoFile(t *testing.T) {
	w, e := inTheMiddle(t, setting{})
	turn := e.until(ofType(protocol.TypeMessageStart)).TurnID
	if !call[*protocol.Cancelled](t, e.c, e.id, &protocol.Cancel{TurnID: turn}).Cancelled {
		t.Fatal("not cancelled")
	}
	e.end()
	if files := w.pendingFiles(); len(files) > 0 {
		t.Errorf("behind the turn: %q", files)
	}
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	if files := w.pendingFiles(); len(files) > 0 {
		t.Errorf("%q", files)
	}
	if found := cutOff(w.log(e.id)); len(found) != 1 {
		t.Errorf("%d partial messages", len(found))
	}
}

func TestDeletingASessionRemovesWhatAKilledHostHasLeft(t *testing.T) {
	w, e := inTheMiddle(t, setting{})
	after := w.killed()
	dir := filepath.Join(after.home, ".scorel", "pending")
	for _, name := range []string{string(e.id) + ".task_abc.output", string(e.id) + ".partial"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call[*protocol.Deleted](t, after.connect(true), e.id, &protocol.DeleteSession{})
	if files := after.pendingFiles(); len(files) > 0 {
		t.Errorf("%q", files)
	}
}

func TestABackgroundCommandOfAKilledHostIsToldOfWithItsLastLines(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash()},
		`{"do":[{"call":"Bash","id":"c0","input":{"command":"echo line one; echo line two; sleep 600","run_in_background":true}}]}`,
		`{"do":[{"text":"It runs."}]}`, `{"if":{"user":"well"},"do":[{"text":"It is lost."}]}`)
	e := w.begin(false)
	if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v", end)
	}
	id := call[*protocol.TaskList](t, e.c, e.id, &protocol.ListTasks{}).Tasks[0].TaskID
	name := string(e.id) + "." + id + ".output"
	w.kept(name, "line two")
	after := w.killed()
	for range 2 { // told once
		again := after.open(after.connect(false), e.id)
		call[*protocol.Done](t, again.c, e.id, &protocol.CloseSession{})
		after.restart()
	}
	var told []protocol.Item
	for _, ev := range after.log(e.id) {
		if b, ok := ev.Body.(*protocol.HarnessItem); ok && strings.Contains(b.Item.Content, id) {
			told = append(told, b.Item)
		}
	}
	if len(told) != 1 || told[0].Kind != protocol.ItemRuntimeNotice || !strings.Contains(told[0].Content, "echo line one") || !strings.Contains(told[0].Content, "\n| line two") || !strings.Contains(told[0].Content, name) {
		t.Fatalf("%+v", told)
	}
	if !strings.Contains(after.pendingFiles()[name], "line one\nline two\n") {
		t.Errorf("%q", after.pendingFiles())
	}
	again := after.open(after.connect(false), e.id)
	if end := again.say("well"); end.Terminal != protocol.TerminalCompleted || !strings.Contains(after.lastRequest(), "was running when the host was killed") {
		t.Errorf("end: %+v", end)
	}
	// One that ends as it should leaves no file.
	if err := w.host.Close(); err != nil {
		t.Fatal(err)
	}
	if files := w.pendingFiles(); len(files) > 0 {
		t.Errorf("%q", files)
	}
}

func TestALongHalfAnswerIsKeptUpToItsBound(t *testing.T) {
	w := newWorld(t, setting{chunk: 20_000}, `{"do":[{"text":"0123456789abcdef","times":100000},{"hang":true}]}`)
	e := w.begin(false)
	e.send("count")
	w.kept(string(e.id)+".partial", `"cut":true`)
	after := w.killed()
	after.open(after.connect(false), e.id)
	found := cutOff(after.log(e.id))
	if len(found) != 1 {
		t.Fatal(len(found))
	}
	m, _ := found[0].Message()
	if n := len(m.PlainText()); n != 1<<20 || !strings.Contains(m.ErrorMessage, "Only its first 1048576 bytes") {
		t.Errorf("%d bytes: %s", n, m.ErrorMessage)
	}
}
