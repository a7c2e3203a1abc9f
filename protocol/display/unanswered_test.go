package display

import (
	"encoding/json"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestACallWithoutAResultIsKnownOnceTheConversationHasGoneOn(t *testing.T) {
	say := func(role protocol.Role, m protocol.Message) protocol.Event {
		m.Role = role
		return protocol.NewEvent(&protocol.MessageBody{Message: m})
	}
	call := func(ids ...string) protocol.Event {
		var m protocol.Message
		for _, id := range ids {
			m.Content = append(m.Content, protocol.Block{Type: protocol.BlockToolUse, ID: id, Name: "Bash", Input: json.RawMessage(`{}`)})
		}
		return say(protocol.RoleAssistant, m)
	}
	result := func(id string) protocol.Event { return say(protocol.RoleToolResult, protocol.Message{ToolCallID: id}) }
	user := say(protocol.RoleUser, protocol.Message{})
	for _, c := range []struct {
		events     []protocol.Event
		lost, open string
	}{
		{[]protocol.Event{user, call("a", "b"), result("b"), result("a"), call("c"), result("c"), user}, "", ""},
		{[]protocol.Event{user, call("a", "b"), result("b")}, "", "a"},
		{[]protocol.Event{user, call("a", "b"), result("b"), user, call("c")}, "a", "c"},
		{[]protocol.Event{user, call("a"), call("b"), result("b")}, "a", ""},
		{[]protocol.Event{call("a"), protocol.NewEvent(&protocol.Label{}), result("a"), result("a"), user}, "", ""},
	} {
		var u Unanswered
		var lost []string
		names := func(calls []protocol.Block) (out []string) {
			for _, c := range calls {
				out = append(out, c.ID)
			}
			return out
		}
		for _, e := range c.events {
			lost = append(lost, names(u.Add(e))...)
		}
		if got, open := strings.Join(lost, " "), strings.Join(names(u.Open()), " "); got != c.lost || open != c.open {
			t.Errorf("lost %q, open %q; want %q and %q", got, open, c.lost, c.open)
		}
	}
}
