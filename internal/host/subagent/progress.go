package subagent

import (
	"fmt"
	"strings"

	"scorel/internal/engine/progress"
	"scorel/internal/engine/session"
	"scorel/protocol"
	"scorel/protocol/display"
)

// observe follows what the agent does. It runs on the goroutine of the agent's turn.
func (s *subagent) observe(body protocol.Body, tell func(protocol.ProcessUpdate)) {
	switch b := body.(type) {
	case *protocol.MessageBody:
		m := b.Message
		if m.Role != protocol.RoleAssistant || m.IsFailure() {
			s.mu.Lock()
			s.said.Add(m)
			s.mu.Unlock()
			return
		}
		if m.IsCut() {
			m, _ = m.Whole(s.starter.texts.CutText(s.starter.life, new(session.Lost))) // what is lost stays cut and says so
		}
		s.mu.Lock()
		s.steps++
		if s.said.Add(m); strings.TrimSpace(s.said.Text) != "" {
			s.answer = s.said.Text
		}
		if m.Usage != nil {
			s.tokens += m.Usage.OutputTokens
		}
		steps := s.steps
		s.mu.Unlock()
		tokens := 0
		if m.Usage != nil {
			tokens = m.Usage.ContextTokens()
		}
		for _, c := range m.Calls() {
			tell(protocol.ProcessUpdate{Stage: c.Name, Status: protocol.ProcessRunning, Message: strings.TrimSpace(c.Name + " " + display.Summary(c.Name, c.Input)),
				Payload: s.payload(steps, tokens)})
		}
	case *protocol.TurnEnd:
		s.mu.Lock()
		s.said.End()
		if b.Usage != nil {
			s.usage.Add(*b.Usage)
		}
		s.mu.Unlock()
	}
}

func (s *subagent) payload(steps, tokens int) []byte {
	return fmt.Appendf(nil, `{"agent":%q,"sessionId":%q,"steps":%d,"contextTokens":%d}`, s.def.Name, s.id, steps, tokens)
}

// tell reports progress as part of the call's operation.
func (s *subagent) tell(u protocol.ProcessUpdate) {
	if s.order.Process == nil {
		return
	}
	u.OperationID, u.ParentOperationID = "subagent-"+string(s.id), progress.OperationID(s.order.CallID)
	u.TargetType, u.Source = protocol.ProcessOfSubagent, protocol.ProcessBySubagent
	s.order.Process(u)
}

func (s *subagent) tellEnd(tell func(protocol.ProcessUpdate), end *protocol.RuntimeEnd) {
	s.mu.Lock()
	steps := s.steps
	s.mu.Unlock()
	u := protocol.ProcessUpdate{Status: protocol.ProcessCompleted, Message: fmt.Sprintf("%s has ended (%s)", s.def.Name, count(steps, "step")), Payload: s.payload(steps, 0)}
	switch {
	case end.Terminal == protocol.TerminalCancelled:
		u.Status, u.Message = protocol.ProcessCancelled, fmt.Sprintf("%s was ended (%s)", s.def.Name, count(steps, "step"))
	case end.Terminal != protocol.TerminalCompleted:
		u.Status, u.Level, u.Message = protocol.ProcessFailed, protocol.ProcessError, s.def.Name+" did not finish: "+why(end)
	}
	tell(u)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// why returns how a turn ended that is not complete, without a full stop.
func why(end *protocol.RuntimeEnd) string {
	if end.Terminal == protocol.TerminalCancelled {
		return "it was ended"
	}
	if end.Error != nil {
		return strings.TrimRight(end.Error.Message, ".")
	}
	return display.Ended(end.Terminal)
}
