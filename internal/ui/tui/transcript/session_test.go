package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"scorel/internal/ui/tui/theme"
	"scorel/protocol"
)

func themed(t testing.TB, o theme.Options) *theme.Theme {
	t.Helper()
	th, problems := theme.New(o)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return th
}

func plainTheme(t testing.TB) *theme.Theme {
	return themed(t, theme.Options{Name: theme.Colourless, Plain: true, Profile: colorprofile.ASCII})
}

func ptr[T any](v T) *T { return &v }

func eventID(n int) protocol.EventID { return protocol.EventID(fmt.Sprintf("evt_%016d", n)) }

// log makes the events of a session, one after the other.
type log struct {
	events []protocol.Event
	parent protocol.EventID
}

func (l *log) add(body protocol.Body) protocol.Event {
	e := protocol.NewEvent(body)
	n := len(l.events) + 1
	e.ID, e.ParentID, e.Seq, e.TS = eventID(n), l.parent, protocol.Seq(n), int64(n)*1500
	if e.Class() == protocol.Conversation {
		l.parent = e.ID
	}
	l.events = append(l.events, e)
	return e
}

func (l *log) user(text string) protocol.Event {
	return l.add(&protocol.MessageBody{Message: protocol.UserText(text)})
}

func (l *log) answer(blocks ...protocol.Block) protocol.Event {
	return l.add(&protocol.MessageBody{Message: assistant(blocks...)})
}

func assistant(blocks ...protocol.Block) protocol.Message {
	return protocol.Message{Role: protocol.RoleAssistant, Provider: "demo", Model: "demo", StopReason: protocol.StopEndTurn, Usage: &protocol.Usage{}, Content: blocks}
}

func (l *log) result(id, name, text string, details any, isError bool) protocol.Event {
	m := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, ToolName: name, Content: []protocol.Block{protocol.Text(text)}, IsError: isError}
	if details != nil {
		m.Details, _ = json.Marshal(details)
	}
	return l.add(&protocol.MessageBody{Message: m})
}

// call adds a message with one call and its result.
func (l *log) call(name, input, text string, details any, isError bool) {
	id := fmt.Sprintf("call_%d", len(l.events))
	l.answer(protocol.ToolUse(id, name, json.RawMessage(input)))
	l.result(id, name, text, details, isError)
}

const someDiff = "--- a/main.go\n+++ b/main.go\n@@ -10,7 +10,8 @@ func main() {\n \tctx := context.Background()\n \tcfg := load()\n \tif cfg == nil {\n-\t\treturn errors.New(\"no config\")\n+\t\treturn fmt.Errorf(\"no config in %s\", dir)\n+\t\t// and more\n \t}\n \trun(ctx, cfg)\n }\n"

// day is a session with every kind of item.
func day() *log {
	l := &log{}
	l.user("Why does the start fail?\nLook at main.go first.")
	l.answer(protocol.Block{Type: protocol.BlockThinking, Thinking: "Let me read it.\nThen run the tests."}, protocol.Text("I read the file and **run** the tests:\n\n- `main.go`\n- the tests\n\n```go\nfunc main() { run() }\n```"),
		protocol.ToolUse("c1", "Read", json.RawMessage(`{"path":"/work/main.go"}`)), protocol.ToolUse("c2", "Bash", json.RawMessage(`{"command":"go test ./...\ngo vet ./..."}`)))
	l.add(&protocol.PermissionDecision{ToolCallID: "c2", Decision: protocol.DecisionAllow, Scope: "once"})
	l.result("c1", "Read", "1\tpackage main\n2\t\n3\tfunc main() {}\n", map[string]any{"files": []any{map[string]any{"path": "/work/main.go", "whole": true, "of": 120}}}, false)
	l.result("c2", "Bash", "--- FAIL: TestStart (0.01s)\n    main_test.go:12: no config\nFAIL\nFAIL\tscorel\t0.1s\nok\tscorel/x\t0.2s\nok\tscorel/y\t0.3s\nok\tscorel/z\t0.3s\n", map[string]any{"exitCode": 1}, false)
	l.call("Edit", `{"path":"/work/main.go","edits":[{"old_string":"a","new_string":"b"}]}`, "Edited.", map[string]any{"diff": someDiff}, false)
	l.call("Grep", `{"pattern":"TODO","mode":"content"}`, "a.go:1:x\na.go:2:y\nb.go:3:z\nb.go:4:z\nb.go:5:z\nb.go:6:z\nb.go:7:z\n[7 lines.]", nil, false)
	l.call("Glob", `{"pattern":"*.go"}`, "[Nothing matches.]", nil, false)
	l.call("TodoWrite", `{"todos":[{"content":"read","status":"completed"},{"content":"write a test that fails","status":"in_progress"},{"content":"mend","status":"pending"}]}`, "Kept.", map[string]any{"todos": []protocol.Todo{{Content: "read", Status: "completed"}, {Content: "write a test that fails", Status: "in_progress"}, {Content: "mend", Status: "pending"}}}, false)
	l.call("WebSearch", `{"query":"go context"}`, "<web_search>\n1. Go Concurrency Patterns\n   https://go.dev/blog/context\n   About it.\n2. context package\n   https://pkg.go.dev/context\n</web_search>\nnot instructions", nil, false)
	l.call("WebFetch", `{"url":"https://go.dev/blog/context"}`, "<web_fetch url=\"x\">\n# Go Concurrency Patterns: Context\n\ntext\n</web_fetch>", nil, false)
	l.call("Task", `{"agent":"explore","description":"find callers","prompt":"Find them."}`, "There are **three** callers.", map[string]any{"agent": map[string]any{"agent": "explore", "steps": 4}}, false)
	l.call("AskUser", `{"questions":[{"question":"Which one?"}]}`, "answered", map[string]any{"asked": []any{map[string]any{"question": "Which one?", "picked": []string{"The first"}, "words": []string{"but later"}}}}, false)
	l.call("mcp__db__query", `{"sql":"select 1","limit":5}`, "1 row\n1", nil, false)
	l.call("Write", `{"path":"/work/x.txt","content":"x"}`, "The file was not read before; read it first.", nil, true)
	l.answer(protocol.ToolUse("c9", "Bash", json.RawMessage(`{"command":"rm -rf /"}`)))
	l.add(&protocol.PermissionDecision{ToolCallID: "c9", Decision: protocol.DecisionDeny, Scope: "once", Reason: "No."})
	l.result("c9", "Bash", "Denied by the user: No.", nil, true)
	skill := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c10", ToolName: "ExecuteSkill", Content: []protocol.Block{protocol.Text("{}")}}
	skill.Process, _ = json.Marshal(protocol.ProcessSummary{Events: []protocol.ProcessEvent{
		{OperationID: "o1", Stage: "fetch", Status: protocol.ProcessCompleted, Message: "12 files"},
		{OperationID: "o2", Stage: "build", Status: protocol.ProcessFailed, Message: "link", Current: ptr(3.0), Total: ptr(8.0)}}})
	l.answer(protocol.ToolUse("c10", "ExecuteSkill", json.RawMessage(`{"name":"deploy","input":{}}`)))
	l.add(&protocol.MessageBody{Message: skill})
	l.add(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("See this:"), {Type: protocol.BlockImage, MediaType: "image/png", Blob: "ab"}, {Type: protocol.BlockFile, Name: "a.pdf", Blob: "cd"}}}})
	l.add(&protocol.Compact{Summary: "We looked at **main.go**.", TokensBefore: 120000, TokensAfter: 4000})
	l.add(&protocol.ChannelInject{Channel: "telegram"})
	l.add(&protocol.CustomMessage{Kind: "weather", Message: protocol.Message{Role: protocol.RoleUser, Content: []protocol.Block{protocol.Text("Rain *soon*.")}}})
	data, _ := json.Marshal(protocol.ShellResult{Command: "ls", ExitCode: ptr(0), DurationMS: 1200})
	l.add(&protocol.CustomMessage{Kind: protocol.ShellKind, Data: data, Message: protocol.Message{Role: protocol.RoleInternal, Content: []protocol.Block{protocol.Text("a\nb")}}})
	m := assistant(protocol.Text("Half an ans"))
	m.StopReason, m.Partial = protocol.StopCancelled, true
	l.add(&protocol.MessageBody{Message: m})
	m = assistant()
	m.StopReason, m.ErrorMessage = protocol.StopError, "The provider says: overloaded. Try again later."
	l.add(&protocol.MessageBody{Message: m})
	return l
}

func filled(l *log) *Transcript {
	t := New(Config{Dir: "/work", Now: func() time.Time { return time.Unix(1000, 0) }})
	for _, e := range l.events {
		t.Append(e)
	}
	return t
}

// visible writes lines as they are sent, with ESC as ␛.
func visible(lines []string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b", "␛") + "\n"
}
