package protocol

import (
	"strings"

	"scorel/protocol/jsonscan"
)

// Message events are most of every log, and reading a session decodes thousands
// of them. fastMessage reads the form in which Scorel writes them, several times
// faster than encoding/json; for everything else (null, repeated or misspelt
// keys, surrogate escapes, unknown blocks, any error) it gives up and the general
// way is taken. What it accepts it reads exactly as encoding/json does. Without a memory
// strings and raw values of the result are parts of line, which must not be changed
// afterwards; with one they are copied to it.
func fastMessage(line []byte, memory *jsonscan.Memory) (*MessageBody, bool) {
	p := &messageParser{jsonscan.NewParser(line, memory)}
	body := &MessageBody{}
	found := false
	ok := p.Object(func(key string) bool {
		switch {
		case key == "message" && !found:
			found = true
			return p.message(&body.Message)
		case strings.EqualFold(key, "message"):
			return false
		}
		return p.Skip()
	})
	return body, ok && found && p.Ended() && body.Message.Role != ""
}

// messageParser reads the parts of messages.
type messageParser struct{ jsonscan.Parser }

// keySet notices keys that are repeated or differ from a known one in case only:
// encoding/json has rules for them that the fast way leaves to it.
type keySet uint32

// take reports whether a key is seen for the first time.
func (s *keySet) take(n int) bool {
	bit := keySet(1) << n
	first := *s&bit == 0
	*s |= bit
	return first
}

// misspelt reports whether key is one of known in other case.
func misspelt(key string, known ...string) bool {
	for _, k := range known {
		if strings.EqualFold(key, k) {
			return true
		}
	}
	return false
}

// str reads a string into a field of a string type.
func str[T ~string](p *messageParser, dst *T) bool {
	s, ok := p.String()
	*dst = T(s)
	return ok
}

func (p *messageParser) message(m *Message) bool {
	var seen keySet
	return p.Object(func(key string) bool {
		switch key {
		case "role":
			s, ok := p.Word(string(RoleAssistant), string(RoleToolResult), string(RoleUser))
			m.Role = Role(s)
			return seen.take(0) && ok
		case "content":
			return seen.take(1) && p.content(m)
		case "provider":
			return seen.take(2) && str(p, &m.Provider)
		case "model":
			return seen.take(3) && str(p, &m.Model)
		case "stopReason":
			s, ok := p.Word(string(StopToolUse), string(StopEndTurn))
			m.StopReason = StopReason(s)
			return seen.take(4) && ok
		case "usage":
			m.Usage = &Usage{}
			return seen.take(5) && p.usage(m.Usage)
		case "partial":
			var ok bool
			m.Partial, ok = p.Bool()
			return seen.take(6) && ok
		case "errorMessage":
			return seen.take(7) && str(p, &m.ErrorMessage)
		case "toolCallId":
			return seen.take(8) && str(p, &m.ToolCallID)
		case "toolName":
			return seen.take(9) && str(p, &m.ToolName)
		case "isError":
			var ok bool
			m.IsError, ok = p.Bool()
			return seen.take(10) && ok
		case "details":
			return seen.take(11) && p.Raw(&m.Details)
		case "process":
			return seen.take(12) && p.Raw(&m.Process)
		case "meta":
			m.Meta = &MessageMeta{}
			return seen.take(13) && p.meta(m.Meta)
		}
		return !misspelt(key, "role", "content", "provider", "model", "stopReason", "usage", "partial", "errorMessage",
			"toolCallId", "toolName", "isError", "details", "process", "meta") && p.Skip()
	})
}

func (p *messageParser) content(m *Message) bool {
	if p.Peek() == '"' {
		s, ok := p.String()
		m.Content = []Block{Text(s)}
		return ok
	}
	m.Content = []Block{}
	return p.List(func() bool {
		m.Content = append(m.Content, Block{})
		return p.block(&m.Content[len(m.Content)-1])
	})
}

func (p *messageParser) block(b *Block) bool {
	var seen keySet
	ok := p.Object(func(key string) bool {
		switch key {
		case "type":
			s, ok := p.Word(string(BlockText), string(BlockToolUse), string(BlockThinking))
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
			b.Redacted, ok = p.Bool()
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
			return seen.take(9) && p.Raw(&b.Input)
		case "provider":
			b.Provider = &ProviderData{}
			return seen.take(10) && p.provider(b.Provider)
		}
		return !misspelt(key, "type", "text", "thinking", "signature", "redacted", "id", "name", "mediaType", "blob", "input",
			"provider") && p.Skip()
	})
	return ok && b.Known()
}

func (p *messageParser) provider(d *ProviderData) bool {
	var seen keySet
	return p.Object(func(key string) bool {
		switch key {
		case "api":
			return seen.take(0) && str(p, &d.API)
		case "model":
			return seen.take(1) && str(p, &d.Model)
		case "data":
			return seen.take(2) && p.Raw(&d.Data)
		}
		return !misspelt(key, "api", "model", "data") && p.Skip()
	})
}

func (p *messageParser) meta(m *MessageMeta) bool {
	var seen keySet
	return p.Object(func(key string) bool {
		switch key {
		case "source":
			return seen.take(0) && str(p, &m.Source)
		case "queueItemId":
			return seen.take(1) && str(p, &m.QueueItemID)
		case "channel":
			return seen.take(2) && str(p, &m.Channel)
		case "scheduleId":
			return seen.take(3) && str(p, &m.ScheduleID)
		case "runId":
			return seen.take(4) && str(p, &m.RunID)
		}
		return !misspelt(key, "source", "queueItemId", "channel", "scheduleId", "runId") && p.Skip()
	})
}

func (p *messageParser) usage(u *Usage) bool {
	var seen keySet
	return p.Object(func(key string) bool {
		switch key {
		case "inputTokens":
			return seen.take(0) && p.Int(&u.InputTokens)
		case "outputTokens":
			return seen.take(1) && p.Int(&u.OutputTokens)
		case "cacheReadTokens":
			return seen.take(2) && p.Int(&u.CacheReadTokens)
		case "cacheWriteTokens":
			return seen.take(3) && p.Int(&u.CacheWriteTokens)
		case "reasoningTokens":
			return seen.take(4) && p.Int(&u.ReasoningTokens)
		case "costUSD":
			return seen.take(5) && p.Float(&u.CostUSD)
		}
		return !misspelt(key, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens",
			"costUSD") && p.Skip()
	})
}
