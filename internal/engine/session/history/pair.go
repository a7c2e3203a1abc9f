package history

import "scorel/protocol"

// damagedResult is the result of a call after which the log is damaged.
const damagedResult = "The result of this call is lost: the log of this conversation is damaged here. It may have taken effect. Check before repeating."

// pair is passes 3 and 7: every call gets exactly one result, directly after the
// message that made it and in the order of its calls. A call without one gets an
// error, a result without a call goes, and what stood between a call and its
// results comes after them. A result answers the newest call before it with its
// id, for some vendors use an id again. orphans says that a result went. The list
// is returned as it is when nothing is to be done.
func pair[T any](list []T, message func(*T) *protocol.Message, fresh func(caller *T, m protocol.Message) T) (out []T, orphans bool) {
	if paired(list, message) {
		return list, false
	}
	type call struct{ owner, index int }
	open := map[string][]call{}  // calls that wait for a result, oldest first
	results := map[call]int{}    // call → place of its result
	owners := map[int][]string{} // place of a message → ids of its calls
	for i := range list {
		m := message(&list[i])
		if m.Role == protocol.RoleAssistant {
			for _, b := range m.Content {
				if b.Type == protocol.BlockToolUse {
					open[b.ID] = append(open[b.ID], call{i, len(owners[i])})
					owners[i] = append(owners[i], b.ID)
				}
			}
			continue
		}
		if m.Role != protocol.RoleToolResult {
			continue
		}
		waiting := open[m.ToolCallID]
		if len(waiting) == 0 {
			orphans = true
			continue
		}
		// The newest message; of its calls with this id the first.
		k := len(waiting) - 1
		for k > 0 && waiting[k-1].owner == waiting[k].owner {
			k--
		}
		results[waiting[k]] = i
		open[m.ToolCallID] = append(waiting[:k:k], waiting[k+1:]...)
	}
	out = make([]T, 0, len(list)+4)
	for i := range list {
		m := message(&list[i])
		if m.Role == protocol.RoleToolResult {
			continue
		}
		out = append(out, list[i])
		if len(owners[i]) == 0 {
			continue
		}
		n := 0
		for _, b := range m.Content {
			if b.Type != protocol.BlockToolUse {
				continue
			}
			if at, ok := results[call{i, n}]; ok {
				out = append(out, list[at])
			} else {
				out = append(out, fresh(&list[i], protocol.ToolError(b.ID, b.Name, protocol.CallLost)))
			}
			n++
		}
	}
	return out, orphans
}

// paired reports whether pair would change nothing.
func paired[T any](list []T, message func(*T) *protocol.Message) bool {
	for i := 0; i < len(list); i++ {
		m := message(&list[i])
		if m.Role == protocol.RoleToolResult {
			return false
		}
		if m.Role != protocol.RoleAssistant {
			continue
		}
		owner := i
		for _, b := range message(&list[owner]).Content {
			if b.Type != protocol.BlockToolUse {
				continue
			}
			i++
			if i == len(list) {
				return false
			}
			if r := message(&list[i]); r.Role != protocol.RoleToolResult || r.ToolCallID != b.ID {
				return false
			}
		}
	}
	return true
}

func pairElements(list []Element) ([]Element, bool) {
	return pair(list, func(e *Element) *protocol.Message { return e.Message },
		func(caller *Element, m protocol.Message) Element {
			if caller.harmed {
				m = protocol.ToolError(m.ToolCallID, m.ToolName, damagedResult)
			}
			return Element{Message: &m}
		})
}

func pairMessages(list []protocol.Message) []protocol.Message {
	list, _ = pair(list, func(m *protocol.Message) *protocol.Message { return m },
		func(_ *protocol.Message, m protocol.Message) protocol.Message { return m })
	return list
}
