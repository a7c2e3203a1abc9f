package history

import (
	"strings"
	"testing"

	"scorel/protocol"
)

func TestPairing(t *testing.T) {
	user := func(s string) protocol.Message { return protocol.UserText(s) }
	res := func(id string) protocol.Message { return resultOf(id, id) }
	for _, c := range []struct {
		name string
		in   []protocol.Message
		want string
	}{
		{"complete pairs are left alone", []protocol.Message{user("u"), answerOf("", "a", "b"), res("a"), res("b"), answerOf("x")},
			"user: u|assistant: Read(a) Read(b)|result a: a|result b: b|assistant: x"},
		{"results take the order of the calls", []protocol.Message{answerOf("", "a", "b"), res("b"), res("a")},
			"assistant: Read(a) Read(b)|result a: a|result b: b"},
		{"a missing result becomes an error", []protocol.Message{answerOf("", "a", "b"), res("b"), user("u")},
			"assistant: Read(a) Read(b)|result a (error): " + protocol.CallLost + "|result b: b|user: u"},
		{"a result without a call goes", []protocol.Message{user("u"), res("x"), answerOf("", "a"), res("a"), res("y")},
			"user: u|assistant: Read(a)|result a: a"},
		{"a second result goes", []protocol.Message{answerOf("", "a"), res("a"), res("a"), user("u")},
			"assistant: Read(a)|result a: a|user: u"},
		{"what stood between comes behind", []protocol.Message{answerOf("", "a", "b"), user("1"), res("a"), user("2"), answerOf("x"), res("b")},
			"assistant: Read(a) Read(b)|result a: a|result b: b|user: 1|user: 2|assistant: x"},
		{"a result before its call goes", []protocol.Message{res("a"), answerOf("", "a")},
			"assistant: Read(a)|result a (error): " + protocol.CallLost},
		{"an id that is used again belongs to the newest call", []protocol.Message{answerOf("", "a"), res("a"), answerOf("", "a"), res("a")},
			"assistant: Read(a)|result a: a|assistant: Read(a)|result a: a"},
		{"an unanswered call keeps no later result of the same id", []protocol.Message{answerOf("", "a"), user("u"), answerOf("", "a"), res("a")},
			"assistant: Read(a)|result a (error): " + protocol.CallLost + "|user: u|assistant: Read(a)|result a: a"},
		{"two calls of one message with one id", []protocol.Message{answerOf("", "a", "a"), resultOf("a", "1"), resultOf("a", "2")},
			"assistant: Read(a) Read(a)|result a: 1|result a: 2"},
		{"the last call without results", []protocol.Message{user("u"), answerOf("", "a")},
			"user: u|assistant: Read(a)|result a (error): " + protocol.CallLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.ReplaceAll(strings.TrimSuffix(brief(pairMessages(c.in)), "\n"), "\n", "|")
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
