package claude

import (
	"encoding/json"
	"testing"
)

func TestInputsOfToolsAreThoseThatHooksOfClaudeCodeKnow(t *testing.T) {
	for _, c := range []struct{ tool, ours, name, theirs string }{
		{"Bash", `{"command":"ls","timeout_seconds":30}`, "Bash", `{"command":"ls","timeout":30000}`},
		{"Read", `{"path":"/a/b","limit":3}`, "Read", `{"file_path":"/a/b","limit":3}`},
		{"Write", `{"path":"/a/b","content":"x"}`, "Write", `{"content":"x","file_path":"/a/b"}`},
		{"Edit", `{"path":"/a","edits":[{"old_string":"x","new_string":"y"}]}`, "Edit", `{"file_path":"/a","new_string":"y","old_string":"x"}`},
		{"Edit", `{"path":"/a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"z","new_string":""}]}`, "MultiEdit", `{"edits":[{"old_string":"x","new_string":"y"},{"old_string":"z","new_string":""}],"file_path":"/a"}`},
		{"Task", `{"agent":"explore","prompt":"x"}`, "Task", `{"prompt":"x","subagent_type":"explore"}`},
		{"Grep", `{"pattern":"x"}`, "Grep", `{"pattern":"x"}`},
		{"mcp__x__y", `{"path":"x"}`, "mcp__x__y", `{"path":"x"}`},
		{"Bash", `7`, "Bash", `7`},
	} {
		name, theirs := Call(c.tool, json.RawMessage(c.ours), "/w")
		if name != c.name || string(theirs) != c.theirs {
			t.Errorf("%s %s is %s %s there", c.tool, c.ours, name, theirs)
		}
		var back, ours any
		_, _ = json.Unmarshal(Input(c.tool, theirs), &back), json.Unmarshal([]byte(c.ours), &ours)
		a, _ := json.Marshal(back)
		b, _ := json.Marshal(ours)
		if string(a) != string(b) {
			t.Errorf("%s %s comes back as %s", c.tool, c.ours, a)
		}
	}
	if _, theirs := Call("Read", json.RawMessage(`{"path":"x/../y"}`), "/w"); string(theirs) != `{"file_path":"/w/x/../y"}` {
		t.Errorf("a relative path is %s", theirs)
	}
}
