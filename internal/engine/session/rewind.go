package session

import (
	"fmt"

	"scorel/protocol"
)

// CanRewind reports whether a rewind may go to id: the empty conversation, a user
// message, an assistant message without calls, a compact or branch_summary
// event, the last result of a complete set, or the parent of a user message.
// Otherwise the error has ErrNotTarget or ErrUnknownEvent in its chain.
func (ix *Index) CanRewind(id protocol.EventID) error {
	if id == "" {
		return nil
	}
	i, err := ix.conversation(id)
	if err != nil {
		return err
	}
	s := ix.snapshot()
	ev, err := ix.decode(&s.entries[i])
	if err != nil {
		return err
	}
	if ev.Type == protocol.TypeCompact || ev.Type == protocol.TypeBranchSummary {
		return nil
	}
	if m, ok := message(ev); ok {
		switch m.Role {
		case protocol.RoleUser:
			return nil
		case protocol.RoleAssistant:
			if len(m.Calls()) == 0 {
				return nil
			}
		case protocol.RoleToolResult:
			complete, err := ix.completes(s, i, m)
			if complete || err != nil {
				return err
			}
		}
	}
	for _, c := range ix.children(i) {
		if int(c) >= len(s.entries) {
			break // appended meanwhile
		}
		child, err := ix.decode(&s.entries[c])
		if err != nil {
			return err
		}
		if m, ok := message(child); ok && m.Role == protocol.RoleUser {
			return nil
		}
	}
	return fmt.Errorf("event %s of %s: %w", id, ix.id, ErrNotTarget)
}

// message returns the message of a message event.
func message(ev protocol.Event) (protocol.Message, bool) {
	if b, ok := ev.Body.(*protocol.MessageBody); ok {
		return b.Message, true
	}
	return protocol.Message{}, false
}

// completes reports whether the result at i is the last one missing to the calls of
// the assistant message before it.
func (ix *Index) completes(s snapshot, i int32, m protocol.Message) (bool, error) {
	have := map[string]bool{m.ToolCallID: true} // bounded by the calls of one message
	for p := s.entries[i].parent; p != none; p = s.entries[p].parent {
		ev, err := ix.decode(&s.entries[p])
		if err != nil {
			return false, err
		}
		before, ok := message(ev)
		if !ok {
			continue
		}
		switch before.Role {
		case protocol.RoleToolResult:
			if before.ToolCallID == m.ToolCallID {
				return false, nil
			}
			have[before.ToolCallID] = true
		case protocol.RoleAssistant:
			calls := before.Calls()
			own := false
			for _, c := range calls {
				own = own || c.ID == m.ToolCallID
				if !have[c.ID] {
					return false, nil
				}
			}
			return own, nil
		}
	}
	return false, nil
}
