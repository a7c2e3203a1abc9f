package host_test

import (
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/protocol"
)

func TestTurnRunsToolsAndEndsCompleted(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			w := newWorld(t, setting{api: api},
				`{"do":[{"text":"Looking."},{"call":"Read","id":"c1","input":{"path":"a.txt"}},{"call":"Glob","id":"c2","input":{"pattern":"*.txt"}}],"stop":"tool_use"}`,
				`{"if":{"result":"hello"},"do":[{"text":"It says hello."}]}`)
			w.file("a.txt", "hello\n")
			e := w.begin(false)
			if end := e.say("what is here?"); end.Terminal != protocol.TerminalCompleted {
				t.Fatalf("end: %+v\n%s", end, e.trace())
			}
			m := e.messages()
			paired(t, m)
			if got := m[len(m)-1].PlainText(); got != "It says hello." {
				t.Errorf("answer: %q", got)
			}
			w.judged()
		})
	}
}

func TestWriteIsRefusedWhereNobodyCanBeAsked(t *testing.T) {
	w := newWorld(t, setting{},
		`{"do":[{"call":"Write","id":"c1","input":{"path":"b.txt","content":"x"}}],"stop":"tool_use"}`,
		`{"if":{"result":"Nobody can be asked"},"do":[{"text":"I could not write."}]}`)
	e := w.begin(false)
	if end := e.say("write b"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	r := e.until(ofType(protocol.TypePermissionResolved))
	if b := r.Body.(*protocol.PermissionResolved); b.Decision != protocol.DecisionExpired || r.ClientID != protocol.HostClient {
		t.Errorf("resolved: %+v", r)
	}
}

func TestRuleAllowsAndIsRecorded(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash(echo:*)"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"echo out; echo [$MOCK_KEY$SCOREL_SECRET]"}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Bash","id":"c2","input":{"command":"echo out"}}],"stop":"tool_use"}`,
		`{"do":[{"text":"done"}]}`)
	e := w.begin(false)
	e.say("run")
	var rules, results []string
	for _, ev := range e.events {
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
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"until [ -e go ]; do :; done; echo ran"}}],"stop":"tool_use"}`,
		`{"if":{"result":"hurry"},"do":[{"text":"I hurry."}]}`)
	e := w.begin(false)
	turn := e.send("run")
	e.until(ofType(protocol.TypeToolExecutionStart))
	sent := call[*protocol.Sent](t, e.c, e.id, &protocol.Steer{TurnID: turn, Content: []protocol.Block{protocol.Text("hurry up")}})
	if sent.ItemID == "" {
		t.Errorf("steering was not queued: %+v", sent)
	}
	w.file("go", "")
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	w.judged()
}

func TestFollowUpOpensItsOwnTurn(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Allow: []string{"Bash"}}},
		`{"do":[{"call":"Bash","id":"c1","input":{"command":"until [ -e go ]; do :; done; echo ran"}}],"stop":"tool_use"}`,
		`{"if":{"result":"ran"},"do":[{"text":"first"}]}`,
		`{"if":{"user":"second thing"},"do":[{"text":"second"}]}`)
	e := w.begin(false)
	e.send("run")
	e.until(ofType(protocol.TypeToolExecutionStart))
	e.send("second thing")
	w.file("go", "")
	if end := e.end(); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	turns := 0
	for _, ev := range e.events {
		if ev.Type == protocol.TypeTurnEnd {
			turns++
		}
	}
	if turns != 2 {
		t.Errorf("%d turns, want 2\n%s", turns, e.trace())
	}
	if len(e.s.Live.Queues) != 0 {
		t.Errorf("the queue still has %+v", e.s.Live.Queues)
	}
}

func TestRewindWithFilesTakesBackWhatTheAgentWrote(t *testing.T) {
	w := newWorld(t, setting{overrides: host.Overrides{Mode: "acceptEdits"}},
		`{"do":[{"call":"Read","id":"c1","input":{"path":"a.txt"}}],"stop":"tool_use"}`,
		`{"do":[{"call":"Edit","id":"c2","input":{"path":"a.txt","edits":[{"old_string":"one","new_string":"two"}]}},{"call":"Write","id":"c3","input":{"path":"new.txt","content":"new"}}],"stop":"tool_use"}`,
		`{"do":[{"text":"done"}]}`)
	w.file("a.txt", "one\n")
	e := w.begin(false)
	if end := e.say("change"); end.Terminal != protocol.TerminalCompleted {
		t.Fatalf("end: %+v\n%s", end, e.trace())
	}
	if got := w.read("a.txt"); got != "two\n" {
		t.Fatalf("after the turn: %q\n%s", got, e.trace())
	}
	moved := call[*protocol.Moved](t, e.c, e.id, &protocol.RewindTo{RestoreFiles: true})
	if moved.LeafID != "" || len(moved.Restored) != 1 || len(moved.Removed) != 1 || len(moved.Skipped) != 0 {
		t.Errorf("moved: %+v", moved)
	}
	if got := w.read("a.txt"); got != "one\n" {
		t.Errorf("after the rewind: %q", got)
	}
	if len(e.messages()) != 0 {
		t.Errorf("the conversation is not empty")
	}
}
