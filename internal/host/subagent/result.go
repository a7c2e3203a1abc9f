package subagent

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"scorel/internal/engine/tool"
	"scorel/protocol"
)

// result is what the model gets for a call that waited.
func (s *subagent) result(text string, end *protocol.RuntimeEnd) tool.Result {
	whole := s.report(text, end)
	r := tool.Result{IsError: end.Terminal != protocol.TerminalCompleted}
	shown := whole
	if cutText, is := middle(whole, maxAgentAnswer); is {
		shown, r.Full = cutText, io.NopCloser(bytes.NewReader([]byte(whole)))
	}
	note := s.note()
	s.mu.Lock()
	usage := s.usage
	r.Usage = &usage
	r.Details = protocol.ToolDetails{Shown: &protocol.ShownText{Tail: len(note), Whole: len(shown) + len(note)}, Agent: &protocol.AgentState{SessionID: s.id, Agent: s.def.Name, Color: s.def.Color, Steps: s.steps, Terminal: end.Terminal}}
	s.mu.Unlock()
	r.Content = []protocol.Block{protocol.Text(shown + note)}
	return r
}

// report is the agent's answer, or what there is of it with the reason why it ended.
func (s *subagent) report(text string, end *protocol.RuntimeEnd) string {
	if strings.TrimSpace(text) == "" {
		text = "(The agent gave no answer.)"
	}
	if end.Terminal != protocol.TerminalCompleted {
		text += "\n[The agent did not finish: " + why(end) + ".]"
	}
	return text
}

// note names the session, for going on with it.
func (s *subagent) note() string {
	return fmt.Sprintf("\n[agent %s, session %s]", s.def.Name, s.id)
}

// middle cuts the middle out of a text of more than most characters.
func middle(text string, most int) (string, bool) {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text, false
	}
	r := []rune(text)
	return fmt.Sprintf("%s\n[... %d characters are left out ...]\n%s", string(r[:most*2/3]), len(r)-most, string(r[len(r)-most/3:])), true
}
