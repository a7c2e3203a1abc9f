package protocol

import "strings"

// keySet notices keys that are repeated or differ from a known one in case only:
// encoding/json has rules for them that the fast way leaves to it.
type keySet uint32

// take says whether a key is seen for the first time.
func (s *keySet) take(n int) bool {
	bit := keySet(1) << n
	first := *s&bit == 0
	*s |= bit
	return first
}

// misspelt says whether key is one of known in other case.
func misspelt(key string, known ...string) bool {
	for _, k := range known {
		if strings.EqualFold(key, k) {
			return true
		}
	}
	return false
}

// str reads a string into a field of a string type.
func str[T ~string](p *fastParser, dst *T) bool {
	s, ok := p.string()
	*dst = T(s)
	return ok
}

func (p *fastParser) message(m *Message) bool {
	var seen keySet
	return p.object(func(key string) bool {
		switch key {
		case "role":
			s, ok := p.word(string(RoleAssistant), string(RoleToolResult), string(RoleUser))
			m.Role = Role(s)
			return seen.take(0) && ok
		case "content":
			return seen.take(1) && p.content(m)
		case "provider":
			return seen.take(2) && str(p, &m.Provider)
		case "model":
			return seen.take(3) && str(p, &m.Model)
		case "stopReason":
			s, ok := p.word(string(StopToolUse), string(StopEndTurn))
			m.StopReason = StopReason(s)
			return seen.take(4) && ok
		case "usage":
			m.Usage = &Usage{}
			return seen.take(5) && p.usage(m.Usage)
		case "partial":
			var ok bool
			m.Partial, ok = p.bool()
			return seen.take(6) && ok
		case "errorMessage":
			return seen.take(7) && str(p, &m.ErrorMessage)
		case "toolCallId":
			return seen.take(8) && str(p, &m.ToolCallID)
		case "toolName":
			return seen.take(9) && str(p, &m.ToolName)
		case "isError":
			var ok bool
			m.IsError, ok = p.bool()
			return seen.take(10) && ok
		case "details":
			return seen.take(11) && p.raw(&m.Details)
		case "process":
			return seen.take(12) && p.raw(&m.Process)
		case "meta":
			m.Meta = &MessageMeta{}
			return seen.take(13) && p.meta(m.Meta)
		}
		return !misspelt(key, "role", "content", "provider", "model", "stopReason", "usage", "partial", "errorMessage",
			"toolCallId", "toolName", "isError", "details", "process", "meta") && p.skip(0)
	})
}

func (p *fastParser) content(m *Message) bool {
	if p.peek() == '"' {
		s, ok := p.string()
		m.Content = []Block{Text(s)}
		return ok
	}
	m.Content = []Block{}
	return p.list(func() bool {
		m.Content = append(m.Content, Block{})
		return p.block(&m.Content[len(m.Content)-1])
	})
}

func (p *fastParser) block(b *Block) bool {
	var seen keySet
	ok := p.object(func(key string) bool {
		switch key {
		case "type":
			s, ok := p.word(string(BlockText), string(BlockToolUse), string(BlockThinking))
			b.Type = BlockType(s)
			return seen.take(0) && ok
		case "text":
			return seen.take(1) && str(p, &b.Text)
		case "thinking":
			return seen.take(2) && str(p, &b.Thinking)
		case "signature":
			return seen.take(3) && str(p, &b.Signature)
		case "redacted":
			var ok bool
			b.Redacted, ok = p.bool()
			return seen.take(4) && ok
		case "id":
			return seen.take(5) && str(p, &b.ID)
		case "name":
			return seen.take(6) && str(p, &b.Name)
		case "mediaType":
			return seen.take(7) && str(p, &b.MediaType)
		case "blob":
			return seen.take(8) && str(p, &b.Blob)
		case "input":
			return seen.take(9) && p.raw(&b.Input)
		case "provider":
			b.Provider = &ProviderData{}
			return seen.take(10) && p.provider(b.Provider)
		}
		return !misspelt(key, "type", "text", "thinking", "signature", "redacted", "id", "name", "mediaType", "blob", "input",
			"provider") && p.skip(0)
	})
	return ok && b.Known()
}

func (p *fastParser) provider(d *ProviderData) bool {
	var seen keySet
	return p.object(func(key string) bool {
		switch key {
		case "api":
			return seen.take(0) && str(p, &d.API)
		case "model":
			return seen.take(1) && str(p, &d.Model)
		case "data":
			return seen.take(2) && p.raw(&d.Data)
		}
		return !misspelt(key, "api", "model", "data") && p.skip(0)
	})
}

func (p *fastParser) meta(m *MessageMeta) bool {
	var seen keySet
	return p.object(func(key string) bool {
		switch key {
		case "source":
			return seen.take(0) && str(p, &m.Source)
		case "queueItemId":
			return seen.take(1) && str(p, &m.QueueItemID)
		case "channel":
			return seen.take(2) && str(p, &m.Channel)
		}
		return !misspelt(key, "source", "queueItemId", "channel") && p.skip(0)
	})
}

func (p *fastParser) usage(u *Usage) bool {
	var seen keySet
	return p.object(func(key string) bool {
		switch key {
		case "inputTokens":
			return seen.take(0) && p.int(&u.InputTokens)
		case "outputTokens":
			return seen.take(1) && p.int(&u.OutputTokens)
		case "cacheReadTokens":
			return seen.take(2) && p.int(&u.CacheReadTokens)
		case "cacheWriteTokens":
			return seen.take(3) && p.int(&u.CacheWriteTokens)
		case "reasoningTokens":
			return seen.take(4) && p.int(&u.ReasoningTokens)
		case "costUSD":
			return seen.take(5) && p.float(&u.CostUSD)
		}
		return !misspelt(key, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens",
			"costUSD") && p.skip(0)
	})
}
