package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"scorel/protocol"
)

type piMessage struct {
	Role       string          `json:"role"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	Content    json.RawMessage `json:"content"`
	API        string          `json:"api,omitempty"`
	Provider   string          `json:"provider,omitempty"`
	Model      string          `json:"model,omitempty"`
	Usage      *piUsage        `json:"usage,omitempty"`
	StopReason string          `json:"stopReason,omitempty"`
	Error      string          `json:"errorMessage,omitempty"`
	Details    json.RawMessage `json:"details,omitempty"`
	IsError    *bool           `json:"isError,omitempty"`
	Timestamp  int64           `json:"timestamp,omitempty"`

	Meta    *protocol.MessageMeta `json:"scorelMeta,omitempty"`
	Partial bool                  `json:"scorelPartial,omitempty"`
	Process json.RawMessage       `json:"scorelProcess,omitempty"`
	Stop    string                `json:"scorelStopReason,omitempty"`
}

type piUsage struct {
	Input       int    `json:"input"`
	Output      int    `json:"output"`
	CacheRead   int    `json:"cacheRead"`
	CacheWrite  int    `json:"cacheWrite"`
	TotalTokens int    `json:"totalTokens"`
	Cost        piCost `json:"cost"`
	Reasoning   int    `json:"scorelReasoningTokens,omitempty"`
}

type piCost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

type piBlock struct {
	Type              string                 `json:"type"`
	Text              *string                `json:"text,omitempty"`
	TextSignature     string                 `json:"textSignature,omitempty"`
	Thinking          *string                `json:"thinking,omitempty"`
	ThinkingSignature string                 `json:"thinkingSignature,omitempty"`
	Redacted          bool                   `json:"redacted,omitempty"`
	ID                string                 `json:"id,omitempty"`
	Name              string                 `json:"name,omitempty"`
	Arguments         json.RawMessage        `json:"arguments,omitempty"`
	Data              *string                `json:"data,omitempty"`
	MimeType          string                 `json:"mimeType,omitempty"`
	Blob              string                 `json:"blob,omitempty"`
	Provider          *protocol.ProviderData `json:"scorelProvider,omitempty"`

	// Of the log's own form, which is accepted on the way back.
	Signature string          `json:"signature,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	LogData   json.RawMessage `json:"provider,omitempty"`
}

// marshal is json.Marshal with the bytes that JSON.stringify gives.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ToPi returns a message of the log in pi's form. Timestamp, in Unix milliseconds, is of
// its entry; 0 leaves it out.
func ToPi(message []byte, timestamp int64) ([]byte, error) {
	var m protocol.Message
	if err := json.Unmarshal(message, &m); err != nil {
		return nil, fmt.Errorf("read a message: %w", err)
	}
	p := piMessage{Role: string(m.Role), Timestamp: timestamp, Meta: m.Meta, Partial: m.Partial}
	if m.Role == protocol.RoleUser || m.Role == protocol.RoleInternal {
		if len(m.Content) == 1 && m.Content[0].Type == protocol.BlockText && m.Content[0].Provider == nil {
			text, err := marshal(m.Content[0].Text)
			if err != nil {
				return nil, err
			}
			p.Content = text
			return marshal(p)
		}
	}
	blocks := make([]json.RawMessage, 0, len(m.Content))
	for _, b := range m.Content {
		raw, err := blockToPi(b)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, raw)
	}
	var err error
	if p.Content, err = marshal(blocks); err != nil {
		return nil, err
	}
	switch m.Role {
	case protocol.RoleAssistant:
		p.Provider, p.Model, p.Error = m.Provider, m.Model, m.ErrorMessage
		p.StopReason = stopToPi(m.StopReason)
		if stopFromPi(p.StopReason) != m.StopReason {
			p.Stop = string(m.StopReason)
		}
		u := protocol.Usage{}
		if m.Usage != nil {
			u = *m.Usage
		}
		p.Usage = &piUsage{Input: u.InputTokens, Output: u.OutputTokens, CacheRead: u.CacheReadTokens, CacheWrite: u.CacheWriteTokens,
			TotalTokens: u.InputTokens + u.OutputTokens + u.CacheReadTokens + u.CacheWriteTokens, Cost: piCost{Total: u.CostUSD}, Reasoning: u.ReasoningTokens}
	case protocol.RoleToolResult:
		p.Role, p.ToolCallID, p.ToolName, p.Details, p.Process = "toolResult", m.ToolCallID, toolToPi(m.ToolName), m.Details, m.Process
		p.IsError = &m.IsError
	}
	return marshal(p)
}

func blockToPi(b protocol.Block) ([]byte, error) {
	p := piBlock{Type: string(b.Type), Provider: b.Provider}
	switch b.Type {
	case protocol.BlockText:
		p.Text, p.TextSignature = &b.Text, b.Signature
	case protocol.BlockThinking:
		p.Thinking, p.ThinkingSignature, p.Redacted = &b.Thinking, b.Signature, b.Redacted
	case protocol.BlockToolUse:
		p.Type, p.ID, p.Name, p.Arguments = "toolCall", b.ID, toolToPi(b.Name), b.Input
		if len(p.Arguments) == 0 {
			p.Arguments = json.RawMessage("{}")
		}
	case protocol.BlockImage:
		p.Data, p.MimeType, p.Blob = new(string), b.MediaType, b.Blob
	case protocol.BlockFile:
		p.Name, p.MimeType, p.Blob = b.Name, b.MediaType, b.Blob
	default:
		return b.MarshalJSON()
	}
	return marshal(p)
}

// FromPi returns a message in the form of the log. It takes messages of either form, and
// says what is wrong with anything else.
func FromPi(message []byte) ([]byte, error) {
	var p piMessage
	if err := json.Unmarshal(message, &p); err != nil {
		return nil, errors.New("it is not a message: a message is an object with role and content")
	}
	m := protocol.Message{Meta: p.Meta, Partial: p.Partial}
	switch p.Role {
	case "user", "custom", "system", "compactionSummary", "branchSummary", "bashExecution", "hookMessage":
		m.Role = protocol.RoleUser
	case "internal":
		m.Role = protocol.RoleInternal
	case "assistant":
		m.Role = protocol.RoleAssistant
	case "toolResult", "tool_result":
		m.Role = protocol.RoleToolResult
	case "":
		return nil, errors.New("it has no role; a role is user, assistant or toolResult")
	default:
		return nil, fmt.Errorf("its role is %.40q; a role is user, assistant or toolResult", p.Role)
	}
	var err error
	if m.Content, err = contentFromPi(p.Content); err != nil {
		return nil, err
	}
	// What only the log's form has.
	var log struct {
		Usage   *protocol.Usage       `json:"usage"`
		Meta    *protocol.MessageMeta `json:"meta"`
		Partial bool                  `json:"partial"`
		Process json.RawMessage       `json:"process"`
	}
	_ = json.Unmarshal(message, &log)
	if m.Meta == nil {
		m.Meta = log.Meta
	}
	m.Partial = m.Partial || log.Partial
	switch m.Role {
	case protocol.RoleAssistant:
		m.Provider, m.Model, m.ErrorMessage = p.Provider, p.Model, p.Error
		m.StopReason = stopFromPi(p.StopReason)
		if p.Stop != "" {
			m.StopReason = protocol.StopReason(p.Stop)
		}
		m.Usage = log.Usage
		if u := p.Usage; u != nil && u.TotalTokens+u.Input+u.Output+u.CacheRead+u.CacheWrite > 0 {
			m.Usage = &protocol.Usage{InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite, ReasoningTokens: u.Reasoning, CostUSD: u.Cost.Total}
		}
		if m.Usage == nil {
			m.Usage = &protocol.Usage{}
		}
	case protocol.RoleToolResult:
		m.ToolCallID, m.ToolName, m.Details, m.Process = p.ToolCallID, toolFromPi(p.ToolName), p.Details, p.Process
		if m.Process == nil {
			m.Process = log.Process
		}
		m.IsError = p.IsError != nil && *p.IsError
		if m.ToolCallID == "" {
			return nil, errors.New("it is a result without the id of its call (toolCallId)")
		}
	}
	return m.MarshalJSON()
}

func contentFromPi(raw json.RawMessage) ([]protocol.Block, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || bytes.Equal(raw, []byte("null")):
		return nil, nil
	case raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		return []protocol.Block{protocol.Text(s)}, nil
	case raw[0] != '[':
		return nil, errors.New("its content is neither a text nor a list of blocks")
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	blocks := make([]protocol.Block, 0, len(list))
	for i, r := range list {
		b, err := blockFromPi(r)
		if err != nil {
			return nil, fmt.Errorf("its block %d: %w", i, err)
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

func blockFromPi(raw json.RawMessage) (protocol.Block, error) {
	var p piBlock
	if err := json.Unmarshal(raw, &p); err != nil {
		return protocol.Block{}, errors.New("it is not a block of content")
	}
	b := protocol.Block{Type: protocol.BlockType(p.Type), Provider: p.Provider}
	if b.Provider == nil && len(p.LogData) > 0 {
		var data protocol.ProviderData
		if json.Unmarshal(p.LogData, &data) == nil {
			b.Provider = &data
		}
	}
	switch p.Type {
	case "text":
		if p.Text == nil {
			return b, errors.New("a text block has no text")
		}
		b.Text, b.Signature = *p.Text, p.TextSignature
	case "thinking":
		if p.Thinking != nil {
			b.Thinking = *p.Thinking
		}
		b.Redacted = p.Redacted
		if b.Signature = p.ThinkingSignature; b.Signature == "" {
			b.Signature = p.Signature
		}
	case "toolCall", "tool_use":
		b.Type, b.ID, b.Name = protocol.BlockToolUse, p.ID, toolFromPi(p.Name)
		if b.Input = p.Arguments; len(b.Input) == 0 {
			b.Input = p.Input
		}
		if len(b.Input) == 0 || b.Input[0] != '{' {
			b.Input = json.RawMessage("{}")
		}
	case "image", "file":
		b.Name = p.Name
		if b.MediaType = p.MimeType; b.MediaType == "" {
			b.MediaType = p.MediaType
		}
		switch b.Blob = p.Blob; {
		case p.Data != nil && *p.Data != "":
			b.Blob = "data:" + *p.Data
		case b.Blob == "":
			return b, fmt.Errorf("a block of type %s has neither data nor a blob", p.Type)
		}
	default:
		var same protocol.Block
		if err := json.Unmarshal(raw, &same); err != nil || p.Type == "" {
			return b, errors.New("a block has no type")
		}
		return same, nil
	}
	return b, nil
}

func stopToPi(s protocol.StopReason) string {
	switch s {
	case protocol.StopToolUse:
		return "toolUse"
	case protocol.StopMaxTokens:
		return "length"
	case protocol.StopCancelled:
		return "aborted"
	case protocol.StopError:
		return "error"
	}
	return "stop"
}

func stopFromPi(s string) protocol.StopReason {
	switch s {
	case "toolUse", "tool_use":
		return protocol.StopToolUse
	case "length", "max_tokens":
		return protocol.StopMaxTokens
	case "aborted", "cancelled":
		return protocol.StopCancelled
	case "error":
		return protocol.StopError
	case "refusal":
		return protocol.StopRefusal
	}
	return protocol.StopEndTurn
}
