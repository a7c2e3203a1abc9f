package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"scorel/protocol/jsonscan"
	"strconv"
)

// Messages are by far the most of what is written, so they are written by hand:
// the same bytes that encoding/json gives (without HTML escapes), at a fraction of
// the cost. A test holds the two equal.

// writer appends JSON; the first error stays.
type writer struct {
	dst []byte
	err error
}

// key begins a field of an object.
func (w *writer) key(name string) {
	if c := w.dst[len(w.dst)-1]; c != '{' {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
}

// text is a string field.
func (w *writer) text(name, value string) {
	w.key(name)
	w.dst = jsonscan.AppendString(w.dst, value)
}

// some is a string field that is left out when it is empty.
func (w *writer) some(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

func (w *writer) yes(name string) {
	w.key(name)
	w.dst = append(w.dst, "true"...)
}

func (w *writer) number(name string, n int) {
	w.key(name)
	w.dst = strconv.AppendInt(w.dst, int64(n), 10)
}

// raw is a field of JSON text, which is made compact and must be valid.
func (w *writer) raw(name string, value json.RawMessage) {
	w.key(name)
	buf := bytes.NewBuffer(w.dst)
	if err := json.Compact(buf, value); err != nil {
		w.fail(fmt.Errorf("%s is not valid JSON: %w", name, err))
		return
	}
	w.dst = buf.Bytes()
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) message(m *Message) {
	w.dst = append(w.dst, '{')
	w.text("role", string(m.Role))
	if m.Role == RoleToolResult {
		w.some("toolCallId", m.ToolCallID)
		w.some("toolName", m.ToolName)
	}
	w.content(m)
	switch m.Role {
	case RoleUser:
		w.meta(m.Meta)
	case RoleAssistant:
		w.some("provider", m.Provider)
		w.some("model", m.Model)
		w.some("stopReason", string(m.StopReason))
		w.usage(m.Usage)
		if m.Partial {
			w.yes("partial")
		}
		w.some("errorMessage", m.ErrorMessage)
	case RoleToolResult:
		w.key("isError")
		w.dst = strconv.AppendBool(w.dst, m.IsError)
		if len(m.Details) > 0 {
			w.raw("details", m.Details)
		}
		if len(m.Process) > 0 {
			w.raw("process", m.Process)
		}
		if m.Usage != nil { // last, where the index of a log looks for it
			w.usage(m.Usage)
		}
	case RoleInternal:
	default:
		w.fail(fmt.Errorf("protocol: a message with role %q cannot be written", m.Role))
	}
	w.dst = append(w.dst, '}')
}

// content writes one plain text of a user as a string, everything else as a list.
func (w *writer) content(m *Message) {
	if b := m.Content; len(b) == 1 && b[0].Type == BlockText && b[0].Provider == nil && b[0].Blob == "" && (m.Role == RoleUser || m.Role == RoleInternal) {
		w.text("content", b[0].Text)
		return
	}
	w.key("content")
	w.dst = append(w.dst, '[')
	for i := range m.Content {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.block(&m.Content[i])
	}
	w.dst = append(w.dst, ']')
}

func (w *writer) meta(m *MessageMeta) {
	if m == nil {
		return
	}
	w.key("meta")
	w.dst = append(w.dst, '{')
	w.some("source", string(m.Source))
	w.some("queueItemId", string(m.QueueItemID))
	w.some("channel", m.Channel)
	w.some("scheduleId", string(m.ScheduleID))
	w.some("runId", string(m.RunID))
	w.dst = append(w.dst, '}')
}

func (w *writer) usage(u *Usage) {
	if u == nil {
		u = &Usage{}
	}
	w.key("usage")
	w.dst = append(w.dst, '{')
	w.number("inputTokens", u.InputTokens)
	w.number("outputTokens", u.OutputTokens)
	w.number("cacheReadTokens", u.CacheReadTokens)
	w.number("cacheWriteTokens", u.CacheWriteTokens)
	if u.ReasoningTokens != 0 {
		w.number("reasoningTokens", u.ReasoningTokens)
	}
	if u.CostUSD != 0 {
		w.key("costUSD")
		if math.IsNaN(u.CostUSD) || math.IsInf(u.CostUSD, 0) {
			w.fail(fmt.Errorf("protocol: a cost of %v cannot be written", u.CostUSD))
			return
		}
		cost, err := json.Marshal(u.CostUSD)
		if err != nil {
			w.fail(err)
		}
		w.dst = append(w.dst, cost...)
	}
	w.dst = append(w.dst, '}')
}

func (w *writer) block(b *Block) {
	if !b.Known() {
		if b.unknown == nil {
			w.fail(fmt.Errorf("protocol: a block of type %q cannot be written", b.Type))
			return
		}
		buf := bytes.NewBuffer(w.dst)
		if err := json.Compact(buf, b.unknown); err != nil {
			w.fail(err)
			return
		}
		w.dst = buf.Bytes()
		return
	}
	w.dst = append(w.dst, '{')
	w.text("type", string(b.Type))
	switch b.Type {
	case BlockText:
		w.text("text", b.Text)
		w.some("blob", b.Blob)
	case BlockThinking:
		w.text("thinking", b.Thinking)
		w.some("signature", b.Signature)
		if b.Redacted {
			w.yes("redacted")
		}
		w.some("blob", b.Blob)
	case BlockImage:
		w.some("mediaType", b.MediaType)
		w.some("blob", b.Blob)
	case BlockFile:
		w.some("name", b.Name)
		w.some("mediaType", b.MediaType)
		w.some("blob", b.Blob)
	case BlockToolUse:
		w.some("id", b.ID)
		w.some("name", b.Name)
		w.some("blob", b.Blob)
		if len(b.Input) == 0 {
			w.key("input")
			w.dst = append(w.dst, '{', '}')
		} else {
			w.raw("input", b.Input)
		}
	}
	if p := b.Provider; p != nil {
		w.key("provider")
		w.dst = append(w.dst, '{')
		w.text("api", p.API)
		w.some("model", p.Model)
		if p.Data == nil {
			w.key("data")
			w.dst = append(w.dst, "null"...)
		} else {
			w.raw("data", p.Data)
		}
		w.dst = append(w.dst, '}')
	}
	w.dst = append(w.dst, '}')
}
