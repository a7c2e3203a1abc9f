package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Role returns who speaks in a message.
type Role string

// The roles. An internal message is kept in the log and never sent to a model.
const (
	RoleUser       Role = "user"
	RoleAssistant  Role = "assistant"
	RoleToolResult Role = "tool_result"
	RoleInternal   Role = "internal"
)

// StopReason returns why an assistant message ended.
type StopReason string

// The stop reasons.
const (
	StopEndTurn   StopReason = "end_turn"
	StopToolUse   StopReason = "tool_use"
	StopMaxTokens StopReason = "max_tokens"
	StopCancelled StopReason = "cancelled"
	StopError     StopReason = "error"
	StopRefusal   StopReason = "refusal"
)

// Source returns where a user message came from when nobody typed it as a prompt.
type Source string

// The sources of user messages.
const (
	SourceSteer     Source = "steer"
	SourceFollowUp  Source = "followUp"
	SourceChannel   Source = "channel"
	SourceSchedule  Source = "schedule"
	SourceProactive Source = "proactive"
	SourceExtension Source = "extension"
)

// MessageMeta goes with a user message. ScheduleID and RunID are those of a run of a schedule
// that sent it.
type MessageMeta struct {
	Source      Source     `json:"source,omitempty"`
	QueueItemID ItemID     `json:"queueItemId,omitempty"`
	Channel     string     `json:"channel,omitempty"`
	ScheduleID  ScheduleID `json:"scheduleId,omitempty"`
	RunID       RunID      `json:"runId,omitempty"`
}

// ByItself reports whether the host has sent the message by itself: for a schedule, or because
// proactive mode is on. m may be nil.
func (m *MessageMeta) ByItself() bool {
	return m != nil && (m.Source == SourceSchedule || m.Source == SourceProactive)
}

// Usage counts tokens of one model call. InputTokens are those that were
// neither read from nor written to the provider's cache.
type Usage struct {
	InputTokens      int     `json:"inputTokens"`
	OutputTokens     int     `json:"outputTokens"`
	CacheReadTokens  int     `json:"cacheReadTokens"`
	CacheWriteTokens int     `json:"cacheWriteTokens"`
	ReasoningTokens  int     `json:"reasoningTokens,omitempty"`
	CostUSD          float64 `json:"costUSD,omitempty"`
}

// Add adds o to u.
func (u *Usage) Add(o Usage) {
	u.InputTokens += o.InputTokens
	u.OutputTokens += o.OutputTokens
	u.CacheReadTokens += o.CacheReadTokens
	u.CacheWriteTokens += o.CacheWriteTokens
	u.ReasoningTokens += o.ReasoningTokens
	u.CostUSD += o.CostUSD
}

// ContextTokens is what the call put into the model's window: all input, however
// it was billed, and the output.
func (u Usage) ContextTokens() int {
	return u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens + u.OutputTokens
}

// BlockType names a kind of content.
type BlockType string

// The block types.
const (
	BlockText     BlockType = "text"
	BlockThinking BlockType = "thinking"
	BlockImage    BlockType = "image"
	BlockFile     BlockType = "file"
	BlockToolUse  BlockType = "tool_use"
)

// ProviderData is what one vendor needs to get back with a block. It is dropped
// for every other vendor.
type ProviderData struct {
	API   string          `json:"api"`
	Model string          `json:"model,omitempty"`
	Data  json.RawMessage `json:"data"`
}

// Block is one piece of content; Type says which fields count:
//
//	text      Text, Blob
//	thinking  Thinking, Signature, Redacted, Blob
//	image     MediaType, Blob
//	file      Name, MediaType, Blob
//	tool_use  ID, Name, Input (a JSON object; never nil when written), Blob
//
// Blob is the lower-case hex SHA-256 of the payload; in a text, thinking or tool_use
// block, of the whole text or input where the one here is cut (an input then is the
// empty object). A block of another type is
// kept as it was read.
type Block struct {
	Type      BlockType
	Text      string
	Thinking  string
	Signature string
	Redacted  bool
	MediaType string
	Blob      string
	ID        string
	Name      string
	Input     json.RawMessage
	Provider  *ProviderData

	unknown json.RawMessage // the whole block when its type is not known
}

// Text, ToolUse and Thinking make blocks.
func Text(s string) Block { return Block{Type: BlockText, Text: s} }

// ToolUse makes a call block.
func ToolUse(id, name string, input json.RawMessage) Block {
	return Block{Type: BlockToolUse, ID: id, Name: name, Input: input}
}

// Known reports whether the type is one this version understands.
func (b Block) Known() bool {
	switch b.Type {
	case BlockText, BlockThinking, BlockImage, BlockFile, BlockToolUse:
		return true
	}
	return false
}

type blockJSON struct {
	Type      BlockType       `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Redacted  bool            `json:"redacted,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
	Blob      string          `json:"blob,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Provider  *ProviderData   `json:"provider,omitempty"`
}

// MarshalJSON writes the fields of the block's type and no others.
func (b Block) MarshalJSON() ([]byte, error) {
	w := writer{}
	w.block(&b)
	return w.dst, w.err
}

// JSONForm is the struct that reads a block.
func (Block) JSONForm() reflect.Type { return reflect.TypeFor[blockJSON]() }

// SentMembers returns the names of the members that a block in a request may have. One of
// a type that nobody can send is left to [CheckBlocks]; nil says so.
func (Block) SentMembers(block map[string]json.RawMessage) []string {
	var t BlockType
	if json.Unmarshal(block["type"], &t) == nil && !slices.Contains([]BlockType{BlockText, BlockImage, BlockFile}, t) {
		return nil
	}
	return []string{"type", "text", "name", "mediaType", "blob"}
}

// UnmarshalJSON reads a block; one of an unknown type keeps its bytes.
func (b *Block) UnmarshalJSON(data []byte) error {
	var j blockJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*b = Block{Type: j.Type, Signature: j.Signature, Redacted: j.Redacted, MediaType: j.MediaType,
		Blob: j.Blob, ID: j.ID, Name: j.Name, Input: j.Input, Provider: j.Provider}
	if j.Text != nil {
		b.Text = *j.Text
	}
	if j.Thinking != nil {
		b.Thinking = *j.Thinking
	}
	if !b.Known() {
		b.unknown = bytes.Clone(data)
	}
	return nil
}

// Message is one message; Role says which fields count.
//
//	user         Content, Meta
//	assistant    Content, Provider, Model, StopReason, Usage, Partial, ErrorMessage
//	tool_result  ToolCallID, ToolName, Content, IsError, Details, Process, Usage (of a sub-agent)
//	internal     Content
//
// A user or internal message that consists of one plain text block is written
// with a string as content. Details and Process never reach a model.
type Message struct {
	Role         Role
	Content      []Block
	Meta         *MessageMeta
	Provider     string
	Model        string
	StopReason   StopReason
	Usage        *Usage
	Partial      bool
	IsError      bool
	ErrorMessage string
	ToolCallID   string
	ToolName     string
	Details      json.RawMessage
	Process      json.RawMessage
}

// HostStopped is what ErrorMessage begins with of an answer in the middle of which the host
// was killed.
const HostStopped = "The host stopped in the middle of this answer. Say \"go on\" to have the rest."

// HostStoppedBefore is the ErrorMessage of a failure (see [Message.IsFailure]) when the host was
// killed before anything of the answer had come.
const HostStoppedBefore = "The host stopped before there was an answer. Say \"go on\" to have it."

// ModelRefused says for people why an answer with [StopRefusal] has no more.
const ModelRefused = "The model refused to answer."

// CallNotBegun is the result of a call that had not begun when the host was stopped or killed.
const CallNotBegun = "Not run: the host stopped before."

// NotStored is what ErrorMessage begins with of an answer that was shown and could not be
// stored when it had come: its calls, which were not run, are left out.
const NotStored = "This answer could not be stored when it came. Say \"go on\" to have the rest."

// CallLost is the result of a call during which the host was stopped or killed.
const CallLost = "The host stopped while this ran. It may have taken effect. Check before repeating."

// UserText makes a user message of one text.
func UserText(s string) Message { return Message{Role: RoleUser, Content: []Block{Text(s)}} }

// ToolError makes an error result for a call.
func ToolError(callID, toolName, text string) Message {
	return Message{Role: RoleToolResult, ToolCallID: callID, ToolName: toolName, Content: []Block{Text(text)}, IsError: true}
}

// IsCut reports whether a text, thinking or input of the message is not whole here.
func (m Message) IsCut() bool { return slices.ContainsFunc(m.Content, Block.isCut) }

func (b Block) isCut() bool {
	return b.Blob != "" && (b.Type == BlockText || b.Type == BlockThinking || b.Type == BlockToolUse)
}

// Whole returns the message with the whole of each text, thinking and input that is cut
// here, as read gives the payload of that name; such a block names no payload any more.
// What cannot be read stays cut, and the error joins those of read. The message itself
// is not changed.
func (m Message) Whole(read func(sha256 string) ([]byte, error)) (Message, error) {
	m.Content = slices.Clone(m.Content)
	var failed error
	for i := range m.Content {
		b := &m.Content[i]
		if !b.isCut() {
			continue
		}
		data, err := read(b.Blob)
		if err == nil && b.Type == BlockToolUse && !json.Valid(data) {
			err = fmt.Errorf("the payload %s is no input of a call", b.Blob)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		b.Blob = ""
		switch b.Type {
		case BlockText:
			b.Text = string(data)
		case BlockThinking:
			b.Thinking = string(data)
		default:
			b.Input = data
		}
	}
	return m, failed
}

// IsFailure reports whether the message says only why a turn has failed: an answer of which
// nothing came. No model is sent it, and it is no step of the turn.
func (m Message) IsFailure() bool {
	return m.Role == RoleAssistant && m.Partial && len(m.Content) == 0
}

// PlainText joins the text blocks of the message with newlines.
func (m Message) PlainText() string {
	var s strings.Builder
	for _, b := range m.Content {
		if b.Type != BlockText {
			continue
		}
		if s.Len() > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(b.Text)
	}
	return s.String()
}

// Calls returns the tool_use blocks in order.
func (m Message) Calls() []Block {
	var calls []Block
	for _, b := range m.Content {
		if b.Type == BlockToolUse {
			calls = append(calls, b)
		}
	}
	return calls
}

type messageJSON struct {
	Role         Role            `json:"role"`
	ToolCallID   string          `json:"toolCallId,omitempty"`
	ToolName     string          `json:"toolName,omitempty"`
	Content      json.RawMessage `json:"content"`
	Meta         *MessageMeta    `json:"meta,omitempty"`
	Provider     string          `json:"provider,omitempty"`
	Model        string          `json:"model,omitempty"`
	StopReason   StopReason      `json:"stopReason,omitempty"`
	Usage        *Usage          `json:"usage,omitempty"`
	Partial      bool            `json:"partial,omitempty"`
	ErrorMessage string          `json:"errorMessage,omitempty"`
	IsError      *bool           `json:"isError,omitempty"`
	Details      json.RawMessage `json:"details,omitempty"`
	Process      json.RawMessage `json:"process,omitempty"`
}

// MarshalJSON writes the fields of the message's role and no others.
func (m Message) MarshalJSON() ([]byte, error) {
	w := writer{}
	w.message(&m)
	return w.dst, w.err
}

// UnmarshalJSON reads a message. Content may be a string or a list of blocks.
func (m *Message) UnmarshalJSON(data []byte) error {
	var j messageJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Role == "" {
		return errors.New("a message has no role")
	}
	*m = Message{Role: j.Role, Meta: j.Meta, Provider: j.Provider, Model: j.Model, StopReason: j.StopReason,
		Usage: j.Usage, Partial: j.Partial, ErrorMessage: j.ErrorMessage, ToolCallID: j.ToolCallID,
		ToolName: j.ToolName, IsError: j.IsError != nil && *j.IsError, Details: j.Details, Process: j.Process}
	switch c := bytes.TrimSpace(j.Content); {
	case len(c) == 0 || bytes.Equal(c, []byte("null")):
	case c[0] == '"':
		var s string
		if err := json.Unmarshal(c, &s); err != nil {
			return err
		}
		m.Content = []Block{Text(s)}
	default:
		return json.Unmarshal(c, &m.Content)
	}
	return nil
}

// marshal is json.Marshal without HTML escaping: a '<' in a log stays a '<', so
// that logs can be searched as text. U+2028 and U+2029 are always escaped.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
