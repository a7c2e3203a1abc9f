package headless

import (
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
