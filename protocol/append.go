package protocol

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// appendMessageBody appends the fields of a message event, with a comma before
// them, as marshal writes them. Nearly all that is stored passes here, and
// marshal writes and checks each level of a message anew. It says false, and has
// appended nothing that counts, for what it leaves to marshal: blocks with
// provider data, kinds it does not know, and anything that is not valid.
func appendMessageBody(dst []byte, m *Message) ([]byte, bool) {
	dst = append(dst, `,"message":{"role":`...)
	dst = appendQuoted(dst, string(m.Role))
	if m.Role == RoleToolResult {
		dst = appendField(dst, "toolCallId", m.ToolCallID)
		dst = appendField(dst, "toolName", m.ToolName)
	}
	dst, ok := appendContent(append(dst, `,"content":`...), m)
	if !ok {
		return nil, false
	}
	switch m.Role {
	case RoleUser:
		if m.Meta != nil {
			return nil, false
		}
	case RoleAssistant:
		dst = appendField(dst, "provider", m.Provider)
		dst = appendField(dst, "model", m.Model)
		dst = appendField(dst, "stopReason", string(m.StopReason))
		if dst, ok = appendUsage(append(dst, `,"usage":`...), m.Usage); !ok {
			return nil, false
		}
		if m.Partial {
			dst = append(dst, `,"partial":true`...)
		}
		dst = appendField(dst, "errorMessage", m.ErrorMessage)
	case RoleToolResult:
		dst = strconv.AppendBool(append(dst, `,"isError":`...), m.IsError)
		if dst, ok = appendRaw(dst, "details", m.Details); !ok {
			return nil, false
		}
		if dst, ok = appendRaw(dst, "process", m.Process); !ok {
			return nil, false
		}
	case RoleInternal:
	default:
		return nil, false
	}
	return append(dst, '}'), true
}

func appendContent(dst []byte, m *Message) ([]byte, bool) {
	if len(m.Content) == 1 && m.Content[0].Type == BlockText && m.Content[0].Provider == nil &&
		(m.Role == RoleUser || m.Role == RoleInternal) {
		return appendQuoted(dst, m.Content[0].Text), true
	}
	dst = append(dst, '[')
	for i := range m.Content {
		b := &m.Content[i]
		if b.Provider != nil {
			return nil, false
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		ok := true
		switch b.Type {
		case BlockText:
			dst = appendQuoted(append(dst, `{"type":"text","text":`...), b.Text)
		case BlockToolUse:
			dst = append(dst, `{"type":"tool_use"`...)
			dst = appendField(dst, "id", b.ID)
			dst = appendField(dst, "name", b.Name)
			input := b.Input
			if len(input) == 0 {
				input = json.RawMessage("{}")
			}
			dst, ok = appendRaw(dst, "input", input)
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
		dst = append(dst, '}')
	}
	return append(dst, ']'), true
}

// appendField appends a field unless it is empty. The name needs no escapes.
func appendField(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, ',', '"'), name...), '"', ':')
	return appendQuoted(dst, value)
}

// appendRaw appends a field of JSON without its spaces, unless it is empty.
func appendRaw(dst []byte, name string, value json.RawMessage) ([]byte, bool) {
	if len(value) == 0 {
		return dst, true
	}
	dst = append(append(append(dst, ',', '"'), name...), '"', ':')
	buf := bytes.NewBuffer(dst)
	if json.Compact(buf, value) != nil {
		return nil, false
	}
	return buf.Bytes(), true
}

func appendUsage(dst []byte, u *Usage) ([]byte, bool) {
	if u == nil {
		u = &Usage{}
	}
	dst = strconv.AppendInt(append(dst, `{"inputTokens":`...), int64(u.InputTokens), 10)
	dst = strconv.AppendInt(append(dst, `,"outputTokens":`...), int64(u.OutputTokens), 10)
	dst = strconv.AppendInt(append(dst, `,"cacheReadTokens":`...), int64(u.CacheReadTokens), 10)
	dst = strconv.AppendInt(append(dst, `,"cacheWriteTokens":`...), int64(u.CacheWriteTokens), 10)
	if u.ReasoningTokens != 0 {
		dst = strconv.AppendInt(append(dst, `,"reasoningTokens":`...), int64(u.ReasoningTokens), 10)
	}
	if u.CostUSD != 0 {
		cost, err := json.Marshal(u.CostUSD)
		if err != nil { // not a number
			return nil, false
		}
		dst = append(append(dst, `,"costUSD":`...), cost...)
	}
	return append(dst, '}'), true
}

// appendQuoted appends a JSON string as marshal writes it.
func appendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		var r rune
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			if (r != utf8.RuneError || size > 1) && r != '\u2028' && r != '\u2029' {
				i += size
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c < utf8.RuneSelf:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case r == utf8.RuneError: // bytes that are not UTF-8
			dst = append(dst, `\ufffd`...)
		default:
			dst = append(append(dst, `\u202`...), hex[r&15])
		}
		i += size
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
