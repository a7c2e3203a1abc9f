package mcpservers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// entry is one of a configuration whose server is the test binary.
func entry(name, more string) string {
	return fmt.Sprintf(`%q:{"command":%q,"env":{%q:%q,"GIVEN":"given"}%s}`, name, os.Args[0], asServer, name, more)
}

func configure(w *hosttest.World, entries ...string) {
	w.Write(filepath.Join(w.Home, ".scorel", "mcp.json"), `{"mcpServers":{`+strings.Join(entries, ",")+`}}`)
}

// calls is a line of a script whose answer calls a tool.
func calls(tool, input string) string {
	return fmt.Sprintf(`{"do":[{"call":%q,"id":"c%s","input":%s}],"stop":"tool_use"}`, tool, strings.ReplaceAll(tool, "_", ""), input)
}

const done = `{"do":[{"text":"done"}]}`

func allowed(rules ...string) hosttest.Setting {
	return hosttest.Setting{Overrides: host.Overrides{Allow: rules}}
}

// toolsIn returns the tools of a request as it was sent.
func toolsIn(t *testing.T, body []byte) string {
	t.Helper()
	var r struct {
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	return string(r.Tools)
}

func TestTheToolsOfAServerAreUsedUnderItsRuleAndSharedByTheSessions(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__notes"), calls("mcp__notes__echo", `{"text":"hi"}`), done, calls("mcp__notes__secret", `{"text":""}`), done, calls("mcp__notes__echo", `{"text":"again"}`), done)
	configure(w, entry("notes", `,"alwaysLoad":true`), entry("later", ``))
	e := w.Begin(false)
	e.Say("go")
	first := e.LastResult().PlainText()
	if !strings.HasPrefix(first, "you said hi ") {
		t.Errorf("the result is %q", first)
	}
	configure(w) // counts from the next session on: a changed list would cost the cache
	e.Say("go on")
	if got := e.LastResult().PlainText(); !strings.HasPrefix(got, "key given: ") {
		t.Errorf("the server has %q: keys of models stay out, and what the entry gives is there", got)
	}
	bodies := w.Bodies()
	for _, b := range bodies {
		if tools := toolsIn(t, b); tools != toolsIn(t, bodies[0]) || !strings.Contains(tools, "mcp__notes__echo") || strings.Contains(tools, "mcp__later") {
			t.Errorf("the tools of a request: %s", tools)
		}
	}
	configure(w, entry("notes", `,"alwaysLoad":true`))
	f := w.Begin(false)
	f.Say("go")
	_, pid, _ := strings.Cut(first, "hi ")
	if got := f.LastResult().PlainText(); got != "you said again "+pid {
		t.Errorf("another session has another process: %q, before %q", got, first)
	}
}

func TestACallWithoutARuleIsAskedFor(t *testing.T) {
	s := hosttest.Setting{Attended: true}
	w := hosttest.New(t, s, calls("mcp__notes__echo", `{"text":"hi"}`), done)
	configure(w, entry("notes", `,"alwaysLoad":true`))
	e := w.Begin(true)
	e.Send("go")
	if q := e.Asked(1); q.ToolName != "mcp__notes__echo" {
		t.Errorf("%+v", q)
	}
}

func TestAServerThatFailsIsNamedAndTheSessionGoesOn(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"done"}]}`)
	configure(w, entry("broken", `,"alwaysLoad":true`), `"bus":{"type":"ws","url":"ws://127.0.0.1:9/mcp","alwaysLoad":true}`, `"odd":{"type":"carrier-pigeon"}`,
		`"unset":{"command":"x","args":["${NOT_SET_ANYWHERE}"],"alwaysLoad":true}`)
	e := w.Begin(false)
	if end := e.Say("hello"); end.Reason != protocol.EndCompleted {
		t.Errorf("%+v", end)
	}
	said := fmt.Sprint(w.Reports.List)
	for _, want := range []string{
		"The MCP server broken cannot be used: its process ended with status 1 before it answered", "the database is locked",
		"The MCP server bus cannot be used: it cannot be reached: ", "carrier-pigeon", "The MCP server unset is not used: ", "NOT_SET_ANYWHERE",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nobody is told %q:\n%s", want, said)
		}
	}
}

func TestNothingOfAProjectStarts(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"done"}]}`)
	ran := filepath.Join(w.Project, "ran")
	for _, name := range []string{".mcp.json", ".scorel/mcp.json", ".cursor/mcp.json"} {
		w.File(name, fmt.Sprintf(`{"mcpServers":{"evil":{"command":"touch","args":[%q],"alwaysLoad":true}}}`, ran))
	}
	e := w.Begin(false)
	e.Say("hello")
	if _, err := os.Stat(ran); err == nil {
		t.Error("a server of the project was started")
	}
	if strings.Contains(toolsIn(t, w.Bodies()[0]), "mcp__") {
		t.Error("a tool of the project is offered")
	}
}

func TestAServerThatGoesKeepsItsToolsAndComesBackWithTheNextCall(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__notes"), calls("mcp__notes__exit", `{"text":""}`), calls("mcp__notes__echo", `{"text":"back"}`), done)
	configure(w, entry("notes", `,"alwaysLoad":true`))
	e := w.Begin(false)
	e.Say("go")
	var texts []string
	for _, m := range w.Stored(e.ID) {
		if m.Role == protocol.RoleToolResult {
			texts = append(texts, m.PlainText())
		}
	}
	if len(texts) != 2 || !strings.Contains(texts[0], "whether the call took effect is not known") || !strings.HasPrefix(texts[1], "you said back ") {
		t.Errorf("%q", texts)
	}
	bodies := w.Bodies()
	if slices.ContainsFunc(bodies, func(b []byte) bool { return toolsIn(t, b) != toolsIn(t, bodies[0]) }) {
		t.Error("the tools of the requests differ")
	}
}

func TestToolsThatTheEntryOrAPresetLeavesOut(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{}, `{"again":true,"do":[{"text":"done"}]}`)
	configure(w, entry("notes", `,"alwaysLoad":true,"denyTools":["sec*"],"allowTools":["echo","secret"]`))
	e := w.Begin(false)
	e.Say("hello")
	e.With("and now", protocol.TurnOptions{Tools: "Read"})
	e.With("and then", protocol.TurnOptions{Tools: "Read,mcp__notes__echo"})
	for i, want := range []int{1, 0, 1} {
		if tools := toolsIn(t, w.Bodies()[i]); strings.Count(tools, `"name":"mcp__`) != want || strings.Contains(tools, "mcp__notes__secret") {
			t.Errorf("request %d: %s", i, tools)
		}
	}
}
