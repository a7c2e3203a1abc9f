package session

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func TestOnlyResultsOfTodoWriteAreMarked(t *testing.T) {
	for message, want := range map[string]bool{
		`{"role":"tool_result","toolCallId":"c","toolName":"TodoWrite","content":[]}`:                                                                                       true,
		`{"role":"tool_result","toolCallId":"c","toolName":"Read","content":[]}`:                                                                                            false,
		`{"role":"user","content":"\"toolName\":\"TodoWrite\""}`:                                                                                                            false,
		`{"role":"tool_result","toolCallId":"c","toolName":"Read","content":[{"type":"text","text":"` + strings.Repeat("x", todoHead) + `"}],"x":{"toolName":"TodoWrite"}}`: false,
		``: false,
	} {
		if got := listsTodos([]byte(message)); got != want {
			t.Errorf("%.100s: %v", message, got)
		}
	}
	m, err := protocol.NewEvent(&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c", ToolName: "TodoWrite"}}).Body.(*protocol.MessageBody).Message.MarshalJSON()
	if err != nil || !listsTodos(m) {
		t.Errorf("as Scorel writes it: %s %v", m, err)
	}
}
