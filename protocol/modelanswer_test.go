package protocol

import (
	"slices"
	"testing"
)

func TestAnswerJoinsPiecesThatTheOutputLimitCut(t *testing.T) {
	said := func(text string, stop StopReason, more ...Block) Message {
		return Message{Role: RoleAssistant, StopReason: stop, Content: append([]Block{Text(text)}, more...)}
	}
	call := Block{Type: BlockToolUse, ID: "c1", Name: "Read"}
	user := Message{Role: RoleUser, Content: []Block{Text("and?")}}
	failure := Message{Role: RoleAssistant, Partial: true, StopReason: StopError, ErrorMessage: "no"}
	broken := said("ken", StopError)
	broken.Partial = true
	for name, c := range map[string]struct {
		messages []Message
		want     string
	}{
		"one message":              {[]Message{said("all", StopEndTurn)}, "all"},
		"continued twice":          {[]Message{said("wo", StopMaxTokens), said("rd a", StopMaxTokens), said("nd more", StopEndTurn)}, "word and more"},
		"a result between answers": {[]Message{said("first", StopToolUse, call), {Role: RoleToolResult}, said("second", StopEndTurn)}, "second"},
		"cut with a whole call":    {[]Message{said("first", StopMaxTokens, call), {Role: RoleToolResult}, said("second", StopEndTurn)}, "second"},
		"a message of the user":    {[]Message{said("first", StopMaxTokens), user, said("second", StopEndTurn)}, "second"},
		"a failure at the end":     {[]Message{said("fir", StopMaxTokens), said("st", StopMaxTokens), failure}, "first"},
		"a piece that broke off":   {[]Message{said("bro", StopMaxTokens), broken}, "broken"},
		"after one that broke off": {[]Message{broken, said("again", StopEndTurn)}, "again"},
	} {
		var a ModelAnswer
		for _, m := range c.messages {
			a.Add(m)
		}
		if a.Text != c.want {
			t.Errorf("%s: the answer is %q, want %q", name, a.Text, c.want)
		}
		slices.Reverse(c.messages)
		if text := AnswerText(NewestAnswer(slices.Values(c.messages))); text != c.want {
			t.Errorf("%s: from the newest message on the answer is %q, want %q", name, text, c.want)
		}
	}
	var a ModelAnswer
	a.Add(said("first", StopMaxTokens))
	a.End()
	a.Add(said("second", StopEndTurn))
	if a.Text != "second" {
		t.Errorf("after the end of a turn the answer is %q, want the new one alone", a.Text)
	}
}
