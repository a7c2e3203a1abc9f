package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"scorel/client"
	"scorel/protocol"
)

// processes gives the process events that came.
func (e *entry) processes() []*protocol.ToolProcess {
	var out []*protocol.ToolProcess
	for _, ev := range e.events {
		if b, ok := ev.Body.(*protocol.ToolProcess); ok {
			out = append(out, b)
		}
	}
	return out
}

func TestABackgroundCommandTellsPeopleAndKeepsALog(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash()}, serve, `{"do":[{"text":"it runs"}]}`, `{"do":[{"text":"I know"}]}`)
	e := w.begin(false)
	if end := e.say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	begun := e.processes()
	if len(begun) != 1 || begun[0].ToolCallID != "c1" || begun[0].Event.Status != protocol.ProcessStarted || begun[0].Event.TargetType != protocol.ProcessOfTask {
		t.Fatalf("the start is told as %s", e.trace())
	}
	id := begun[0].Event.OperationID
	log := call[*protocol.ProcessLog](t, e.c, e.id, &protocol.GetProcessLog{OperationID: id})
	if len(log.Lines) != 1 || log.More || log.Next != 1 || log.Lines[0].Event == nil || log.Lines[0].Event.Status != protocol.ProcessStarted {
		t.Errorf("while it runs the log has %+v", log)
	}
	w.file("go", "")
	ended := e.until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.ToolProcess)
		return ok && b.Event.Status != protocol.ProcessStarted
	}).Body.(*protocol.ToolProcess)
	if ended.ToolCallID != "" || ended.Event.Status != protocol.ProcessFailed || !strings.Contains(ended.Event.Message, "exit code 3") {
		t.Errorf("the end is told as %+v", ended)
	}
	e.say("and now")
	n := w.notices(e.id)
	if len(n) != 1 {
		t.Fatalf("%d notices", len(n))
	}
	var notice protocol.TaskNotice
	if err := json.Unmarshal(n[0].Body.(*protocol.HarnessItem).Item.Data, &notice); err != nil || notice.Process == nil {
		t.Fatalf("the notice has no summary: %+v, %v", notice, err)
	}
	ref := notice.Process.LogRef
	if len(notice.Process.Events) != 2 || ref.OperationID != id || ref.SessionID != e.id || ref.Kind != protocol.ProcessLogKind {
		t.Errorf("the summary is %+v", notice.Process)
	}
	for _, r := range w.server.Requests() {
		if bytes.Contains(r.Body, []byte("operationId")) || bytes.Contains(r.Body, []byte("started in the background")) {
			t.Errorf("a model was sent %s", r.Body)
		}
	}
	w.restart()
	c := w.connect(false)
	for offset := range 3 { // page by page, from the file
		log := call[*protocol.ProcessLog](t, c, e.id, &protocol.GetProcessLog{OperationID: id, Offset: offset, Limit: 1})
		want := 1
		if offset == 2 {
			want = 0
		}
		if len(log.Lines) != want || log.Next != offset+want || log.More != (offset == 0) {
			t.Errorf("from line %d on the log has %+v", offset, log)
		}
	}
	dir := filepath.Join(w.home, ".scorel", "processes", string(e.id))
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	call[*protocol.Deleted](t, c, e.id, &protocol.DeleteSession{})
	if _, err := os.Stat(dir); err == nil {
		t.Error("the log is there although its session was deleted")
	}
	refused(t, c, e.id, &protocol.GetProcessLog{OperationID: id}, protocol.CodeSessionNotFound)
}

func TestNoOperationIDLeadsOutOfTheProcessLogs(t *testing.T) {
	w := newWorld(t, setting{}, `{"do":[{"text":"ok"}]}`)
	e := w.begin(false)
	e.say("hello")
	own := filepath.Join(w.home, ".scorel", "processes", string(e.id))
	w.write(filepath.Join(own, "x.jsonl"), `{"note":"here"}`+"\n")
	w.write(filepath.Join(own, "deep", "x.jsonl"), `{"note":"deep"}`+"\n")
	if log := call[*protocol.ProcessLog](t, e.c, e.id, &protocol.GetProcessLog{OperationID: "x"}); len(log.Lines) != 1 || log.Lines[0].Note != "here" {
		t.Fatalf("%+v", log)
	}
	logs := filepath.Join(w.home, ".scorel", "sessions", string(e.id))
	for _, id := range []string{"../../sessions/" + string(e.id), "..", ".", "/etc/passwd", logs, "deep/x", "..%2f..%2fsessions", "x\x00", "", strings.Repeat("x", 100_000), "x.jsonl", "\xff"} {
		err := refused(t, e.c, e.id, &protocol.GetProcessLog{OperationID: id}, protocol.CodeInvalidRequest)
		if len(err.Message) > 500 || strings.Contains(err.Message, w.home) && !strings.Contains(id, w.home) {
			t.Errorf("%.40q: %s", id, err.Message)
		}
	}
	for _, r := range []*protocol.GetProcessLog{{OperationID: "x", Offset: -1}, {OperationID: "x", Limit: -1}, {OperationID: "x", Limit: 1001}} {
		refused(t, e.c, e.id, r, protocol.CodeInvalidRequest)
	}
}

// TestNothingForPeopleReachesAModel puts marks into everything that a log keeps for
// people only, and looks for them in the bytes that each vendor is sent: in a step, in
// the request for a summary, behind it, over a restart, and behind a switch of the
// provider.
func TestNothingForPeopleReachesAModel(t *testing.T) {
	for i, api := range apis() {
		t.Run(api, func(t *testing.T) {
			compact := `{"if":{"kind":"compact"},"again":true,"do":[{"text":"They looked at a file."}]}`
			read := `{"if":{"user":"look$"},"again":true,"do":[{"call":"Read","id":"c%d","input":{"path":"a.txt"}}]}`
			rest := `{"again":true,"do":[{"text":"Seen."}]}`
			w := newWorld(t, setting{api: api, other: apis()[(i+1)%4], overrides: allowBash(),
				lines: []string{compact, strings.Replace(read, "c%d", "c9", 1), rest}}, compact, strings.Replace(read, "c%d", "c1", 1), rest)
			w.file("a.txt", "what the file says\n")
			e := w.begin(false)
			e.say("look")
			marks := w.planted(e.id)
			e = w.open(w.connect(false), e.id)
			e.say("look")
			if e.compact().EventID == "" {
				t.Fatal("nothing was compacted")
			}
			e.say("after")
			marks = append(marks, w.planted(e.id)...)
			e = w.open(w.connect(false), e.id)
			other := "other"
			call[*protocol.Done](t, e.c, e.id, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Model: &other}})
			e.say("look")
			if e.compact().EventID == "" {
				t.Fatal("nothing was compacted")
			}
			e.say("the end")
			w.judged()
			log, err := os.ReadFile(filepath.Join(w.home, ".scorel", "sessions", string(e.id)+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			requests := append(slices.Clone(w.server.Requests()), w.second.Requests()...)
			if len(w.server.Requests()) < 6 || len(w.second.Requests()) < 4 || len(marks) < 8 {
				t.Fatalf("%d and %d requests, %d marks", len(w.server.Requests()), len(w.second.Requests()), len(marks))
			}
			for _, mark := range marks {
				if !bytes.Contains(log, []byte(mark)) {
					t.Errorf("the log has no %s", mark)
				}
				for n, r := range requests {
					if bytes.Contains(r.Body, []byte(mark)) {
						t.Errorf("request %d carries %s:\n%s", n, mark, r.Body)
					}
				}
			}
		})
	}
}

// planted closes the host, puts marks into the log of a session, starts another and gives
// the marks.
func (w *world) planted(id protocol.SessionID) []string {
	w.t.Helper()
	if err := w.host.Close(); err != nil {
		w.t.Fatal(err)
	}
	name := filepath.Join(w.home, ".scorel", "sessions", string(id)+".jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	var marks []string
	mark := func(what string) string {
		m := fmt.Sprintf("ONLYPEOPLE-%s-%d-%d", what, len(data), len(marks))
		marks = append(marks, m)
		return m
	}
	var out bytes.Buffer
	results, last := 0, protocol.Event{}
	for line := range bytes.Lines(data) {
		if e, err := protocol.ParseEvent(bytes.TrimSpace(line)); err == nil {
			if m, ok := e.Message(); ok && m.Role == protocol.RoleToolResult && m.Process == nil {
				process := fmt.Sprintf(`"process":{"latest":{"message":%q},"events":[{"operationId":"tool-c1","message":%q,"detail":%q,"stage":%q,"payload":{"k":%q}}],"logRef":{"operationId":%q}}`,
					mark("message"), mark("message"), mark("detail"), mark("stage"), mark("payload"), mark("operation"))
				details := fmt.Sprintf(`"details":{"diff":%q,"fresh":%q`, mark("diff"), mark("details"))
				old := []byte(`"details":{`)
				if !bytes.Contains(line, old) {
					w.t.Fatalf("the result has no details: %s", line)
				}
				line = bytes.Replace(line, old, []byte(process+","+details+","), 1)
				results++
			}
			last = e
		}
		out.Write(line)
	}
	if results == 0 {
		w.t.Fatal("there is no result to be marked")
	}
	seq, parent := last.Seq, last.ID
	if last.Class() != protocol.Conversation {
		parent = last.ParentID
	}
	for _, body := range []protocol.Body{
		&protocol.Custom{Kind: "stack", Data: json.RawMessage(fmt.Sprintf(`{"k":%q}`, mark("custom")))},
		&protocol.HarnessItem{Item: protocol.Item{Kind: protocol.ItemRuntimeNotice, Origin: protocol.OriginTool, Content: "It ended.", Visibility: protocol.VisibilityCompact,
			Data: json.RawMessage(fmt.Sprintf(`{"taskId":"task_1","state":"exited","process":{"latest":{"message":%q}}}`, mark("task")))}},
		&protocol.Label{TargetEventID: parent, Label: new(mark("label"))},
	} {
		seq++
		e := protocol.NewEvent(body)
		e.ID, e.ParentID, e.Seq, e.SessionID, e.ClientID, e.TS = protocol.NewEventID(w.config.Rand), parent, seq, id, protocol.HostClient, 1
		line, err := e.AppendLine(nil)
		if err != nil {
			w.t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	// Without checksums it is a log as an older version wrote it.
	bare := regexp.MustCompile(`,"prev":[0-9]+|,"crc":"[0-9a-f]{8}"`).ReplaceAll(out.Bytes(), nil)
	if err := os.WriteFile(name, bare, 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.start()
	return marks
}

func TestACommandThatRunsWhenItsHostIsKilledLeavesNothingRunning(t *testing.T) {
	w := newWorld(t, setting{overrides: allowBash()}, serve, `{"do":[{"call":"Bash","id":"c2","input":{"command":"echo here; sleep 1000"}}]}`)
	e := w.begin(false)
	e.send("start")
	e.until(func(ev protocol.Event) bool { // it runs: its record has been written
		b, ok := ev.Body.(*protocol.ToolExecutionUpdate)
		return ok && b.ToolCallID == "c2"
	})
	id := e.processes()[0].Event.OperationID
	call[*protocol.ProcessLog](t, e.c, e.id, &protocol.GetProcessLog{OperationID: id}) // so that it is written
	torn := filepath.Join(w.home, ".scorel", "processes", string(e.id), id+".jsonl")
	f, err := os.OpenFile(torn, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"version":1,"operationId":"tor`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	after := w.killed()
	c := after.connect(false)
	s, err := c.Open(context.Background(), e.id, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for u := (client.Update{}); !u.Fresh; {
		if u, err = s.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Live.Tools) != 0 || s.Live.Running {
		t.Errorf("the session shows %+v", s.Live)
	}
	log := call[*protocol.ProcessLog](t, c, e.id, &protocol.GetProcessLog{OperationID: id})
	if len(log.Lines) != 1 || log.Lines[0].Event == nil || log.More {
		t.Errorf("the log has %+v", log)
	}
}
