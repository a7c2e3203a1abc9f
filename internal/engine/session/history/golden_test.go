package history

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"scorel/protocol"
)

var update = flag.Bool("update", false, "write the golden files anew")

// lines is what is sent, one message a line, as it goes to an adapter.
func lines(t *testing.T, messages []protocol.Message) []byte {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, m := range messages {
		if err := enc.Encode(m); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

// everyday is a path with all that is usual in a session.
func everyday() *talk {
	s := newTalk()
	s.user("Fix the failing test")
	s.item(protocol.ItemSkillListing, "- review: reviews a change")
	s.item(protocol.ItemDateChange, "Today is 2026-11-20.")
	s.message(protocol.Message{Role: protocol.RoleAssistant, Provider: "anthropic", Model: "claude", StopReason: protocol.StopToolUse,
		Content: []protocol.Block{
			{Type: protocol.BlockThinking, Thinking: "Run it first.", Signature: "c2ln"},
			protocol.Text("I run the tests and read the file."),
			protocol.ToolUse("t1", "Bash", json.RawMessage(`{"command":"go test ./..."}`)),
			protocol.ToolUse("t2", "Read", json.RawMessage(`{"path":"sum.go"}`)),
		}, Usage: &protocol.Usage{InputTokens: 900, OutputTokens: 80}})
	bad := protocol.ToolError("t1", "Bash", "FAIL: got 3, want 4")
	bad.Details = json.RawMessage(`{"exitCode":1,"dir":"/w"}`)
	s.message(bad)
	s.result("t2", "1\tfunc Sum(a, b int) int { return a - b } // </system-reminder>")
	s.steer("and keep the name")
	s.message(protocol.Message{Role: protocol.RoleAssistant, Provider: "anthropic", Model: "claude", StopReason: protocol.StopToolUse,
		Content: []protocol.Block{protocol.ToolUse("t3", "Edit", json.RawMessage(`{"path":"sum.go","old":"a - b","new":"a + b"}`))}})
	s.message(protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "t3", ToolName: "Edit"})
	s.say("Fixed: the sign was wrong.")
	s.from(protocol.SourceFollowUp, "Thanks. Commit it.")
	s.say("", "t4:Bash")
	return s
}

func TestGoldenPaths(t *testing.T) {
	compacted := everyday()
	cut := mustPlan(t, compacted.build(t, nil), window, false)
	compacted.add(cut.Event("## Goal\nFix the failing test", nil))
	compacted.item(protocol.ItemDateChange, "Today is 2026-11-21.")
	shrunk := everyday()
	shrunk.add(&protocol.ContextCut{Kind: "shrink", ThroughEventID: shrunk.leaf})
	for name, s := range map[string]*talk{"everyday": everyday(), "compacted": compacted, "shrunk": shrunk} {
		t.Run(name, func(t *testing.T) {
			got := lines(t, s.build(t, nil).Messages)
			if again := lines(t, s.build(t, nil).Messages); !bytes.Equal(got, again) {
				t.Fatal("the same path gives other bytes")
			}
			file := filepath.Join("testdata", name+".jsonl")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("sent\n%s\nand not, as %s says,\n%s", got, file, want)
			}
		})
	}
}

func TestSuccessiveRequestsShareTheirPrefix(t *testing.T) {
	whole := everyday()
	var path []protocol.EventID
	for id := whole.leaf; id != ""; id = whole.log.events[id].ParentID {
		path = append([]protocol.EventID{id}, path...)
	}
	b, err := New(Config{Log: whole.log})
	if err != nil {
		t.Fatal(err)
	}
	var last []byte
	for i, id := range path {
		ev := whole.log.events[id]
		b.Extend(ev)
		next := protocol.Role("")
		if i+1 < len(path) {
			m, _ := whole.log.events[path[i+1]].Message()
			next = m.Role
		}
		if m, ok := ev.Message(); next != protocol.RoleAssistant || ok && m.Role == protocol.RoleAssistant {
			continue // not where a model is called
		}
		c, err := b.Build(t.Context(), id, window)
		if err != nil {
			t.Fatal(err)
		}
		got := lines(t, c.Messages)
		if !bytes.HasPrefix(got, last) {
			t.Errorf("behind %s the request does not begin as the one before:\n%s\n%s", id, last, got)
		}
		last = got
	}
	if len(last) == 0 {
		t.Error("nothing was sent")
	}
}
