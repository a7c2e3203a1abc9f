package turns_test

import (
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

func TestTurnRunsToolsAndEndsCompleted(t *testing.T) {
	for _, api := range hosttest.APIs() {
		t.Run(api, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{API: api},
				`{"do":[{"text":"Looking."},{"call":"Read","id":"c1","input":{"path":"a.txt"}},{"call":"Glob","id":"c2","input":{"pattern":"*.txt"}}],"stop":"tool_use"}`,
				`{"if":{"result":"hello"},"do":[{"text":"It says hello."}]}`)
			w.File("a.txt", "hello\n")
			e := w.Begin(false)
			if end := e.Say("what is here?"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, e.Trace())
			}
			m := e.Messages()
			hosttest.Paired(t, m)
			if got := m[len(m)-1].PlainText(); got != "It says hello." {
				t.Errorf("answer: %q", got)
			}
			w.Judged()
		})
	}
}

func TestWriteIsRefusedWhereNobodyCanBeAsked(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{},
		`{"do":[{"call":"Write","id":"c1","input":{"path":"b.txt","content":"x"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Nobody can be asked"},"do":[{"text":"I could not write."}]}`)
	e := w.Begin(false)
	if end := e.Say("write b"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	r := e.Until(hosttest.OfType(protocol.TypePermissionResolved))
	if b := r.Body.(*protocol.PermissionResolved); b.Decision != protocol.DecisionExpired || r.ClientID != protocol.HostClient {
		t.Errorf("resolved: %+v", r)
	}
}

func TestRuleAllowsAndIsRecorded(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash(echo:*)"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"echo out; echo [$MOCK_KEY$SCOREL_SECRET]"}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Bash","id":"c2","input":{"command":"echo out"}}],"stop":"tool_use"}`,
		`{"do":[{"text":"done"}]}`)
	e := w.Begin(false)
	e.Say("run")
	var rules, results []string
	for _, ev := range e.Events {
		switch b := ev.Body.(type) {
		case *protocol.PermissionDecision:
			rules = append(rules, string(b.Decision)+" "+b.Rule)
		case *protocol.MessageBody:
			if b.Message.Role == protocol.RoleToolResult {
				results = append(results, b.Message.PlainText())
			}
		}
	}
	if len(rules) != 2 || rules[0] != "allow Bash(echo:*)" {
		t.Errorf("decisions: %q (results %q)", rules, results)
	}
	if len(results) != 2 || !strings.Contains(results[0], "out\n[]\n") {
		t.Errorf("results: %q", results)
	}
}

func TestSteerEntersBehindTheResults(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"until [ -e go ]; do :; done; echo ran"}}],"stop":"tool_use"}`,
		`{"if":{"result":"hurry"},"do":[{"text":"I hurry."}]}`)
	e := w.Begin(false)
	turn := e.Send("run")
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	sent := hosttest.Call[*protocol.Sent](t, e.C, e.ID, &protocol.Steer{TurnID: turn, Content: []protocol.Block{protocol.Text("hurry up")}})
	if sent.ItemID == "" {
		t.Errorf("steering was not queued: %+v", sent)
	}
	w.File("go", "")
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	w.Judged()
}

func TestFollowUpOpensItsOwnTurn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"until [ -e go ]; do :; done; echo ran"}}],"stop":"tool_use"}`,
		`{"if":{"result":"ran"},"do":[{"text":"first"}]}`,
		`{"if":{"user":"second thing"},"do":[{"text":"second"}]}`)
	e := w.Begin(false)
	e.Send("run")
	e.Until(hosttest.OfType(protocol.TypeToolExecutionStart))
	e.Send("second thing")
	w.File("go", "")
	if end := e.End(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	turns := 0
	for _, ev := range e.Events {
		if ev.Type == protocol.TypeTurnEnd {
			turns++
		}
	}
	if turns != 2 {
		t.Errorf("%d turns, want 2\n%s", turns, e.Trace())
	}
	if len(e.S.Live.Queues) != 0 {
		t.Errorf("the queue still has %+v", e.S.Live.Queues)
	}
}

func TestRewindWithFilesTakesBackWhatTheAgentWrote(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Mode: "acceptEdits"}},
		`{"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Edit","id":"c2","input":{"path":"a.txt","edits":[{"old_string":"one","new_string":"two"}]}},{"call":"Write","id":"c3","input":{"path":"new.txt","content":"new"}}],"stop":"tool_use"}`,
		`{"do":[{"text":"done"}]}`)
	w.File("a.txt", "one\n")
	e := w.Begin(false)
	if end := e.Say("change"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.Trace())
	}
	if got := w.Read("a.txt"); got != "two\n" {
		t.Fatalf("after the turn: %q\n%s", got, e.Trace())
	}
	moved := hosttest.Call[*protocol.Moved](t, e.C, e.ID, &protocol.RewindTo{RestoreFiles: true})
	if moved.LeafID != "" || len(moved.Restored) != 1 || len(moved.Removed) != 1 || len(moved.Skipped) != 0 {
		t.Errorf("moved: %+v", moved)
	}
	if got := w.Read("a.txt"); got != "one\n" {
		t.Errorf("after the rewind: %q", got)
	}
	if len(e.Messages()) != 0 {
		t.Errorf("the conversation is not empty")
	}
}
