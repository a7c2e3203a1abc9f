package headless

import (
	"fmt"
	"strings"
	"testing"

	"scorel/protocol"
)

func TestUsageOfARunIncludesItsAgents(t *testing.T) {
	used := func(n int) *protocol.Usage { return &protocol.Usage{OutputTokens: n, CostUSD: float64(n)} }
	var r Result
	for _, b := range []protocol.Body{
		&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleAssistant, Usage: used(1)}},
		&protocol.MessageBody{Message: protocol.Message{Role: protocol.RoleToolResult, Usage: used(10)}}, // of an agent
		&protocol.SessionInfo{Usage: used(100)},                                                          // of one in the background
		&protocol.Compact{Usage: used(1000)},
		&protocol.RuntimeEnd{Terminal: protocol.TerminalCompleted},
	} {
		r.event(protocol.NewEvent(b))
	}
	if r.Usage.OutputTokens != 1111 || r.CostUSD != 1111 || r.NumSteps != 1 {
		t.Errorf("%+v, %d steps", r.Usage, r.NumSteps)
	}
}

func TestAllThatWasRefusedIsNamed(t *testing.T) {
	r := NewResult("ses_x")
	for i := range 7 {
		r.unasked++
		r.Denials = append(r.Denials, denial{ToolName: "Bash", Allow: fmt.Sprintf("Bash(touch %d)", i/2*2)})
	}
	want := "scorel: 7 calls were refused because nobody could be asked; they are allowed by --allowed-tools 'Bash(touch 0)' --allowed-tools 'Bash(touch 2)' --allowed-tools 'Bash(touch 4)' --allowed-tools 'Bash(touch 6)'"
	if got := r.refusedLine(); got != want {
		t.Errorf("%s", got)
	}
	r.Denials = nil
	for i := range 7 {
		r.Denials = append(r.Denials, denial{ToolName: "Bash", Allow: fmt.Sprintf("Bash(touch %d)", i)})
	}
	if got := r.refusedLine(); !strings.HasSuffix(got, "'Bash(touch 4)', and 2 more rules") {
		t.Errorf("%s", got)
	}
}
