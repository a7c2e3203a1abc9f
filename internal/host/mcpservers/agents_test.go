package mcpservers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

const startsAgent = `{"if":{"user":"^start"},"do":[{"call":"Task","id":"t1","input":{"agent":"reader","description":"read","prompt":"TASK-OF-CHILD"}}],"stop":"tool_use"}`

// TestAServerOfAnAgentStartsAndEndsWithIt: the agent is sent its tools; the session that
// started the agent never has it.
func TestAServerOfAnAgentStartsAndEndsWithIt(t *testing.T) {
	s := hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Task", "mcp__private"}}}
	w := hosttest.New(t, s, startsAgent, `{"if":{"user":"TASK-OF-CHILD"},"do":[{"call":"mcp__private__echo","id":"c1","input":{"text":"hi"}}],"stop":"tool_use"}`,
		`{"if":{"result":"you said hi"},"do":[{"text":"read it"}]}`, again)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.User("agents/reader.md", fmt.Sprintf("---\ndescription: reads\nmcpServers:\n  - private: {command: %q, env: {%s: private}}\n---\nRead.", self, asServer))
	e := w.Begin(false)
	e.Say("start")
	var details protocol.ToolDetails
	if err := json.Unmarshal(e.LastResult().Details, &details); err != nil || details.Agent == nil {
		t.Fatalf("%v, %s", err, e.LastResult().Details)
	}
	child := w.Stored(details.Agent.SessionID)
	pid := ""
	for _, m := range child {
		if _, after, ok := strings.Cut(m.PlainText(), "you said hi "); ok {
			pid = strings.TrimSpace(after)
		}
	}
	if _, err := strconv.Atoi(pid); err != nil {
		t.Fatalf("the agent has not called its server: %+v", child)
	}
	hosttest.Gone(t, pid)
	bodies := w.Bodies()
	if has := strings.Contains(toolsIn(t, bodies[1]), `"mcp__private__echo"`); !has {
		t.Error("the agent is not sent the tools of its server")
	}
	for _, i := range []int{0, len(bodies) - 1} {
		if strings.Contains(toolsIn(t, bodies[i]), "mcp__private") {
			t.Errorf("the session is sent %s", toolsIn(t, bodies[i]))
		}
	}
}

func TestAnAgentWithoutTheServersThatItNeedsDoesNotBegin(t *testing.T) {
	for name, test := range map[string]struct{ fields, want string }{
		"there":     {"requiredMcpServers: [note*]", "CHILD-END"},
		"missing":   {"requiredMcpServers: [wiki-*]", "The agent needs the MCP server wiki-*, which it cannot use: there is no such server"},
		"failed":    {"requiredMcpServers: [notes, broken]", "The agent needs the MCP server broken, which it cannot use: its process ended with status 1"},
		"named":     {"mcpServers: [notes]", "CHILD-END"},
		"not there": {"mcpServers: [wiki]", "The agent needs the MCP server wiki, which it cannot use"},
	} {
		t.Run(name, func(t *testing.T) {
			w := hosttest.New(t, hosttest.Setting{Overrides: host.Overrides{Allow: []string{"Task"}}}, startsAgent, `{"if":{"user":"TASK-OF-CHILD"},"do":[{"text":"CHILD-END"}]}`, again)
			configure(w, entry("notes", ``), entry("broken", ``))
			w.User("agents/reader.md", "---\ndescription: reads\n"+test.fields+"\n---\nRead.")
			e := w.Begin(false)
			e.Say("start")
			if got := e.LastResult().PlainText(); !strings.Contains(got, test.want) {
				t.Errorf("%q lacks %q", got, test.want)
			}
		})
	}
}
