package mcpservers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/internal/host"
	"scorel/internal/host/hosttest"
	"scorel/protocol"
)

// TestAServerAsksThePeopleOfASession: a question of a server is a dialog that names it, and
// the answer goes to the server.
func TestAServerAsksThePeopleOfASession(t *testing.T) {
	w := hosttest.New(t, hosttest.Setting{Attended: true, Overrides: host.Overrides{Allow: []string{"mcp__asks"}}},
		calls("mcp__asks__paint", `{}`), done, calls("mcp__asks__paint", `{}`), done)
	configure(w, entry("asks", `,"alwaysLoad":true`))
	e := w.Begin(true)
	for _, c := range []struct{ answer, want string }{{`{"color":"green"}`, `"green"`}, {`false`, `"decline"`}} {
		e.Events = nil
		e.Send("paint")
		d := e.Dialog()
		if d.Data.Kind != protocol.DialogForm || d.Data.Source != "MCP server asks" || d.Data.Message != "Which color has the shed?" || d.Data.ToolCallID == "" {
			t.Errorf("%+v", d.Data)
		}
		hosttest.Call[*protocol.Done](t, e.C, e.ID, &protocol.AnswerUI{UIID: d.UIID, Value: json.RawMessage(c.answer)})
		e.End()
		if got := e.LastResult().PlainText(); !strings.Contains(got, c.want) {
			t.Errorf("the server is told %s", got)
		}
	}
}

// TestNobodyIsThereToAsk: the server is told no, and the turn goes on.
func TestNobodyIsThereToAsk(t *testing.T) {
	w := hosttest.New(t, allowed("mcp__asks"), calls("mcp__asks__paint", `{}`), done)
	configure(w, entry("asks", `,"alwaysLoad":true`))
	e := w.Begin(false)
	e.Say("paint")
	if got := e.LastResult().PlainText(); !strings.Contains(got, `"decline"`) {
		t.Errorf("the server is told %s", got)
	}
}
