package session

import (
	"bytes"
	"encoding/json"

	"scorel/protocol"
)

// Usage is the sum of what all events of the log say that their calls used:
// assistant messages, summaries, requests beside the conversation, and the results
// of sub-agents.
func (ix *Index) Usage() protocol.Usage {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.usage
}

// usages are what the calls of some lines used. They stand beside the records, most of
// which have none, so that these stay small.
type usages []protocol.Usage

// of returns what a record's call used.
func (us usages) of(r *record) protocol.Usage {
	if r.used == 0 {
		return protocol.Usage{}
	}
	return us[r.used-1]
}

// read takes what the call of an event used. It runs over every line of a log that is
// opened: of a line that Scorel wrote it looks only at the end of the message.
func (us *usages) read(k *protocol.Keys, r *record) {
	if string(k.Type) != string(protocol.TypeMessage) {
		if k.Usage != nil && protocol.StoredUsage(k.Type) {
			us.slow(k.Usage, r)
		}
		return
	}
	const head, field = `{"role":"`, `"usage":`
	m := k.Message
	if m == nil {
		return
	}
	role := byte('a') // of a message that somebody else wrote
	if len(m) > len(head) && string(m[:len(head)]) == head {
		role = m[len(head)]
	}
	if role != 'a' && role != 't' {
		return // only an assistant's message has one, and the result of a sub-agent
	}
	last := false // whether it ends with a usage
	if body := m[:max(0, len(m)-2)]; string(m[len(body):]) == "}}" {
		open := bytes.LastIndexByte(body, '{')
		last = open > len(field) && string(body[open-len(field):open]) == field
		if last && us.fast(body[open+1:], r) {
			return
		}
	}
	if role == 't' && !last {
		return
	}
	var message struct{ Usage json.RawMessage }
	if json.Unmarshal(m, &message) == nil && message.Usage != nil {
		us.slow(message.Usage, r)
	}
}

// slow reads a usage that anybody wrote. Of one that is damaged nothing counts.
func (us *usages) slow(data []byte, r *record) {
	var u protocol.Usage
	if json.Unmarshal(data, &u) == nil {
		*us = append(*us, u)
		r.used = int32(len(*us))
	}
}

// fast reads the fields of a usage as [protocol.Event.AppendLine] writes them,
// between the braces. It is false for everything else.
func (us *usages) fast(b []byte, r *record) bool {
	var u protocol.Usage
	if !fastUsage(b, &u) {
		return false
	}
	*us = append(*us, u)
	r.used = int32(len(*us))
	return true
}

func fastUsage(b []byte, u *protocol.Usage) bool {
	return number(&b, `"inputTokens":`, &u.InputTokens) && number(&b, `,"outputTokens":`, &u.OutputTokens) &&
		number(&b, `,"cacheReadTokens":`, &u.CacheReadTokens) && number(&b, `,"cacheWriteTokens":`, &u.CacheWriteTokens) &&
		(len(b) == 0 || fastRest(b, u))
}

// fastRest reads the fields that are left out when they are nothing.
func fastRest(b []byte, u *protocol.Usage) bool {
	number(&b, `,"reasoningTokens":`, &u.ReasoningTokens)
	if len(b) == 0 {
		return true
	}
	cost, ok := bytes.CutPrefix(b, []byte(`,"costUSD":`))
	return ok && json.Unmarshal(cost, &u.CostUSD) == nil
}

// number takes a field with a number of up to 15 digits off the front.
func number(b *[]byte, name string, n *int) bool {
	rest := *b
	if len(rest) < len(name) || string(rest[:len(name)]) != name {
		return false
	}
	rest = rest[len(name):]
	i, v := 0, 0
	for i < len(rest) && i < 15 && rest[i] >= '0' && rest[i] <= '9' {
		v = v*10 + int(rest[i]-'0')
		i++
	}
	if i == 0 || i > 1 && rest[0] == '0' || i < len(rest) && rest[i] != ',' {
		return false
	}
	*n, *b = v, rest[i:]
	return true
}
