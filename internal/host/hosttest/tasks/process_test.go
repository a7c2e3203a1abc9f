package tasks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/client"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestABackgroundCommandTellsPeopleAndKeepsALog(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.Serve, `{"do":[{"text":"it runs"}]}`, `{"do":[{"text":"I know"}]}`)
	e := w.Begin(false)
	if end := e.Say("start"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v %v", end, end.Error)
	}
	begun := e.Processes()
	if len(begun) != 1 || begun[0].ToolCallID != "c1" || begun[0].Event.Status != protocol.ProcessStarted || begun[0].Event.TargetType != protocol.ProcessOfTask {
		t.Fatalf("the start is told as %s", e.Trace())
	}
	id := begun[0].Event.OperationID
	log := hosttest.Call[*protocol.ProcessLog](t, e.C, e.ID, &protocol.GetProcessLog{OperationID: id})
	if len(log.Lines) != 1 || log.More || log.Next != 1 || log.Lines[0].Event == nil || log.Lines[0].Event.Status != protocol.ProcessStarted {
		t.Errorf("while it runs the log has %+v", log)
	}
	w.File("go", "")
	ended := e.Until(func(ev protocol.Event) bool {
		b, ok := ev.Body.(*protocol.ToolProcess)
		return ok && b.Event.Status != protocol.ProcessStarted
	}).Body.(*protocol.ToolProcess)
	if ended.ToolCallID != "" || ended.Event.Status != protocol.ProcessFailed || !strings.Contains(ended.Event.Message, "exit code 3") {
		t.Errorf("the end is told as %+v", ended)
	}
	e.Say("and now")
	n := w.Notices(e.ID)
	if len(n) != 1 {
		t.Fatalf("%d notices", len(n))
	}
	var notice protocol.TaskNotice
	if err := json.Unmarshal(n[0].Body.(*protocol.HarnessItem).Item.Data, &notice); err != nil || notice.Process == nil {
		t.Fatalf("the notice has no summary: %+v, %v", notice, err)
	}
	ref := notice.Process.LogRef
	if len(notice.Process.Events) != 2 || ref.OperationID != id || ref.SessionID != e.ID || ref.Kind != protocol.ProcessLogKind {
		t.Errorf("the summary is %+v", notice.Process)
	}
	for _, r := range w.Server.Requests() {
		if bytes.Contains(r.Body, []byte("operationId")) || bytes.Contains(r.Body, []byte("started in the background")) {
			t.Errorf("a model was sent %s", r.Body)
		}
	}
	w.Restart()
	c := w.Connect(false)
	for offset := range 3 { // page by page, from the file
		log := hosttest.Call[*protocol.ProcessLog](t, c, e.ID, &protocol.GetProcessLog{OperationID: id, Offset: offset, Limit: 1})
		want := 1
		if offset == 2 {
			want = 0
		}
		if len(log.Lines) != want || log.Next != offset+want || log.More != (offset == 0) {
			t.Errorf("from line %d on the log has %+v", offset, log)
		}
	}
	dir := filepath.Join(w.Home, ".scorel", "processes", string(e.ID))
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	hosttest.Call[*protocol.Deleted](t, c, e.ID, &protocol.DeleteSession{})
	if _, err := os.Stat(dir); err == nil {
		t.Error("the log is there although its session was deleted")
	}
	hosttest.Refused(t, c, e.ID, &protocol.GetProcessLog{OperationID: id}, protocol.CodeSessionNotFound)
}

func TestNoOperationIDLeadsOutOfTheProcessLogs(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"do":[{"text":"ok"}]}`)
	e := w.Begin(false)
	e.Say("hello")
	own := filepath.Join(w.Home, ".scorel", "processes", string(e.ID))
	w.Write(filepath.Join(own, "x.jsonl"), `{"note":"here"}`+"\n")
	w.Write(filepath.Join(own, "deep", "x.jsonl"), `{"note":"deep"}`+"\n")
	if log := hosttest.Call[*protocol.ProcessLog](t, e.C, e.ID, &protocol.GetProcessLog{OperationID: "x"}); len(log.Lines) != 1 || log.Lines[0].Note != "here" {
		t.Fatalf("%+v", log)
	}
	logs := filepath.Join(w.Home, ".scorel", "sessions", string(e.ID))
	for _, id := range []string{"../../sessions/" + string(e.ID), "..", ".", "/etc/passwd", logs, "deep/x", "..%2f..%2fsessions", "x\x00", "", strings.Repeat("x", 100_000), "x.jsonl", "\xff"} {
		code := protocol.CodeNotFound
		if id == "" || len(id) > protocol.MaxName {
			code = protocol.CodeInvalidRequest
		}
		err := hosttest.Refused(t, e.C, e.ID, &protocol.GetProcessLog{OperationID: id}, code)
		if len(err.Message) > 500 || strings.Contains(err.Message, w.Home) && !strings.Contains(id, w.Home) {
			t.Errorf("%.40q: %s", id, err.Message)
		}
	}
	for _, r := range []*protocol.GetProcessLog{{OperationID: "x", Offset: -1}, {OperationID: "x", Limit: -1}, {OperationID: "x", Limit: 1001}} {
		hosttest.Refused(t, e.C, e.ID, r, protocol.CodeInvalidRequest)
	}
}

// TestNothingForPeopleReachesAModel puts marks into everything that a log keeps for
// people only, and looks for them in the bytes that each vendor is sent: in a step, in
// the request for a summary, after it, over a restart, and after a switch of the
// provider.
func TestNothingForPeopleReachesAModel(t *testing.T) {
	for i, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			compact := `{"if":{"kind":"compact"},"again":true,"do":[{"text":"They looked at a file."}]}`
			read := `{"if":{"user":"look$"},"again":true,"do":[{"call":"Read","id":"c%d","input":{"path":"a.txt"}}]}`
			rest := `{"again":true,"do":[{"text":"Seen."}]}`
			w := hosttest.New(t, hosttest.Setting{API: api, Other: hosttest.APIs()[(i+1)%4], Overrides: hosttest.AllowBash(),
				Lines: []string{compact, strings.Replace(read, "c%d", "c9", 1), rest}}, compact, strings.Replace(read, "c%d", "c1", 1), rest)
			w.File("a.txt", "what the file says\n")
			e := w.Begin(false)
			e.Say("look")
			marks := w.Planted(e.ID)
			e = w.Open(w.Connect(false), e.ID)
			e.Say("look")
			if e.Compact().EventID == "" {
				t.Fatal("nothing was compacted")
			}
			e.Say("after")
			marks = append(marks, w.Planted(e.ID)...)
			e = w.Open(w.Connect(false), e.ID)
			other := "other"
			hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.UpdateInfo{Changes: protocol.MetaChanges{Model: &other}})
			e.Say("look")
			if e.Compact().EventID == "" {
				t.Fatal("nothing was compacted")
			}
			e.Say("the end")
			w.Judged()
			log, err := os.ReadFile(filepath.Join(w.Home, ".scorel", "sessions", string(e.ID)+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			requests := append(slices.Clone(w.Server.Requests()), w.Second.Requests()...)
			if len(w.Server.Requests()) < 6 || len(w.Second.Requests()) < 4 || len(marks) < 8 {
				t.Fatalf("%d and %d requests, %d marks", len(w.Server.Requests()), len(w.Second.Requests()), len(marks))
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

func TestACommandThatRunsWhenItsHostIsKilledLeavesNothingRunning(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: hosttest.AllowBash()}, hosttest.Serve, `{"do":[{"call":"Bash","id":"c2","input":{"command":"echo here; sleep 1000"}}]}`)
	e := w.Begin(false)
	e.Send("start")
	e.Until(func(ev protocol.Event) bool { // it runs: its record has been written
		b, ok := ev.Body.(*protocol.ToolExecutionUpdate)
		return ok && b.ToolCallID == "c2"
	})
	id := e.Processes()[0].Event.OperationID
	hosttest.Call[*protocol.ProcessLog](t, e.C, e.ID, &protocol.GetProcessLog{OperationID: id}) // so that it is written
	torn := filepath.Join(w.Home, ".scorel", "processes", string(e.ID), id+".jsonl")
	f, err := os.OpenFile(torn, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"version":1,"operationId":"tor`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	after := w.Killed()
	c := after.Connect(false)
	s, err := c.Open(context.Background(), e.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
	defer cancel()
	for u := (client.Update{}); !u.Fresh; {
		if u, err = s.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Live.Tools) != 0 || s.Live.Running {
		t.Errorf("the session shows %+v", s.Live)
	}
	log := hosttest.Call[*protocol.ProcessLog](t, c, e.ID, &protocol.GetProcessLog{OperationID: id})
	if len(log.Lines) != 1 || log.Lines[0].Event == nil || log.More {
		t.Errorf("the log has %+v", log)
	}
}
