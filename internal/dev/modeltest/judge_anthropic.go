package modeltest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens int                `json:"max_tokens"`
	Stream    bool               `json:"stream"`
	System    anthropicContent   `json:"system"`
	Messages  []anthropicMessage `json:"messages"`
	Tools     []json.RawMessage  `json:"tools"`
	Thinking  *struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content anthropicContent `json:"content"`
}

// anthropicContent is a string or a list of blocks.
type anthropicContent struct{ blocks []anthropicBlock }

func (c *anthropicContent) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		raw := compact(object{"type": "text", "text": s})
		c.blocks = []anthropicBlock{{Type: "text", Text: s, raw: raw}}
		return nil
	}
	return json.Unmarshal(data, &c.blocks)
}

func (c anthropicContent) text() string {
	var list []string
	for _, b := range c.blocks {
		if b.Type == "text" {
			list = append(list, b.Text)
		}
	}
	return strings.Join(list, "\n")
}

type anthropicBlock struct {
	Type      string           `json:"type"`
	Text      string           `json:"text"`
	Thinking  string           `json:"thinking"`
	Signature string           `json:"signature"`
	Data      string           `json:"data"`
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Input     json.RawMessage  `json:"input"`
	ToolUseID string           `json:"tool_use_id"`
	Content   anthropicContent `json:"content"`
	IsError   bool             `json:"is_error"`
	Cache     json.RawMessage  `json:"cache_control"`
	Source    struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`

	raw json.RawMessage
}

func (b *anthropicBlock) UnmarshalJSON(data []byte) error {
	type plain anthropicBlock
	if err := json.Unmarshal(data, (*plain)(b)); err != nil {
		return err
	}
	b.raw = append(json.RawMessage(nil), data...)
	return nil
}

// Limits of the API (https://platform.claude.com/docs/en/api/messages and
// /en/build-with-claude/vision).
const (
	anthropicMarks    = 4
	anthropicMaxImage = 5 << 20 // base64
	anthropicBudget   = 1024
)

// judgeAnthropic returns what the API would refuse about a request; empty when it
// takes it. The texts begin as the vendor's do.
//
// Where the API has become milder than it was, the judge keeps the older rule,
// because compatible servers and older models have it: user messages in a row are
// joined today ("Consecutive user or assistant turns in your request will be
// combined", reference of the messages parameter) and were refused with "roles
// must alternate"; a final assistant message is a prefill, which models from
// Claude Opus 4.6 on refuse.
func judgeAnthropic(r *anthropicRequest) string {
	switch {
	case r.Model == "":
		return "model: Field required"
	case r.MaxTokens < 1:
		return "max_tokens: Field required"
	case len(r.Messages) == 0:
		return "messages: at least one message is required"
	}
	if t := r.Thinking; t != nil && t.Type == "enabled" {
		if t.Budget < anthropicBudget {
			return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
		}
		if t.Budget >= r.MaxTokens {
			return "`max_tokens` must be greater than `thinking.budget_tokens`"
		}
	}
	for _, b := range r.System.blocks {
		if strings.TrimSpace(b.Text) == "" {
			return "system: text content blocks must be non-empty"
		}
	}
	if bad := judgeAnthropicTools(r.Tools); bad != "" {
		return bad
	}
	if bad := judgeAnthropicMarks(r); bad != "" {
		return bad
	}
	j := anthropicJudge{r: r, seen: map[string]bool{}, id: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)}
	for i := range r.Messages {
		if bad := j.message(i); bad != "" {
			return bad
		}
	}
	return j.end()
}

func judgeAnthropicTools(tools []json.RawMessage) string {
	seen := map[string]bool{}
	for i, raw := range tools {
		var t struct {
			Name   string `json:"name"`
			Schema struct {
				Type string `json:"type"`
			} `json:"input_schema"`
		}
		switch json.Unmarshal(raw, &t); {
		case !toolName(t.Name, anthropicName):
			return fmt.Sprintf("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		case seen[t.Name]:
			return "tools: Tool names must be unique."
		case t.Schema.Type != "object":
			return fmt.Sprintf("tools.%d.custom.input_schema.type: Input should be 'object'", i)
		}
		seen[t.Name] = true
	}
	return ""
}

func judgeAnthropicMarks(r *anthropicRequest) string {
	n := 0
	count := func(raw json.RawMessage) {
		if _, marked := unmark(raw); marked {
			n++
		}
	}
	for _, t := range r.Tools {
		count(t)
	}
	for _, b := range r.System.blocks {
		count(b.raw)
	}
	for i, m := range r.Messages {
		for k, b := range m.Content.blocks {
			count(b.raw)
			if (b.Type == "thinking" || b.Type == "redacted_thinking") && len(b.Cache) > 0 {
				return fmt.Sprintf("messages.%d.content.%d.thinking.cache_control: Extra inputs are not permitted", i, k)
			}
		}
	}
	if n > anthropicMarks {
		return fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
	return ""
}

// anthropicJudge walks the messages.
type anthropicJudge struct {
	r    *anthropicRequest
	id   *regexp.Regexp
	seen map[string]bool // ids of calls
	open []string        // calls of the message before, without a result
}

func (j *anthropicJudge) message(i int) string {
	m := j.r.Messages[i]
	at := fmt.Sprintf("messages.%d", i)
	switch {
	case m.Role != "user" && m.Role != "assistant":
		return at + ": Input tag '" + m.Role + "' found using 'role' does not match any of the expected tags: 'user', 'assistant'"
	case i == 0 && m.Role != "user":
		return "messages: first message must use the \"user\" role"
	case i > 0 && j.r.Messages[i-1].Role == m.Role:
		return "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"" + m.Role + "\" roles in a row"
	case len(m.Content.blocks) == 0:
		return at + ": all messages must have non-empty content except for the optional final assistant message"
	case m.Role == "assistant":
		return j.assistant(at, m.Content.blocks)
	}
	return j.user(at, m.Content.blocks)
}

func (j *anthropicJudge) assistant(at string, blocks []anthropicBlock) string {
	for k, b := range blocks {
		here := fmt.Sprintf("%s.content.%d", at, k)
		switch b.Type {
		case "text":
			if bad := judgeText(here, b); bad != "" {
				return bad
			}
		case "thinking":
			if b.Signature == "" {
				return here + ".thinking.signature: Field required"
			}
			if b.Signature != Sign(j.r.Model, b.Thinking) {
				return here + ": Invalid `signature` in `thinking` block"
			}
		case "redacted_thinking":
			if b.Data == "" {
				return here + ".redacted_thinking.data: Field required"
			}
		case "tool_use":
			if !j.id.MatchString(b.ID) {
				return here + ".tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
			}
			if j.seen[b.ID] {
				return here + ": `tool_use` ids must be unique"
			}
			if !toolName(b.Name, anthropicName) {
				return here + ".tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
			}
			if !strings.HasPrefix(strings.TrimSpace(string(b.Input)), "{") {
				return here + ".tool_use.input: Input should be a valid dictionary"
			}
			j.seen[b.ID] = true
			j.open = append(j.open, b.ID)
		default:
			return here + ": Input tag '" + b.Type + "' found using 'type' does not match any of the expected tags"
		}
	}
	if last := blocks[len(blocks)-1]; last.Type == "thinking" || last.Type == "redacted_thinking" {
		return at + ": The final block in an assistant message cannot be `thinking`."
	}
	return ""
}

func (j *anthropicJudge) user(at string, blocks []anthropicBlock) string {
	open := map[string]bool{}
	for _, id := range j.open {
		open[id] = true
	}
	other := false
	for k, b := range blocks {
		here := fmt.Sprintf("%s.content.%d", at, k)
		switch b.Type {
		case "tool_result":
			if !open[b.ToolUseID] {
				return here + ": unexpected `tool_use_id` found in `tool_result` blocks: " + b.ToolUseID +
					". Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
			}
			if other {
				return here + ": `tool_result` blocks must come before all other content"
			}
			delete(open, b.ToolUseID)
			for _, inner := range b.Content.blocks {
				if b.IsError && inner.Type != "text" {
					return here + ".tool_result: all content must be type \"text\" if \"is_error\" is true"
				}
				if bad := judgePayload(here, inner); bad != "" {
					return bad
				}
			}
		default:
			other = true
			if bad := judgePayload(here, b); bad != "" {
				return bad
			}
		}
	}
	if len(open) > 0 {
		var ids []string
		for _, id := range j.open {
			if open[id] {
				ids = append(ids, id)
			}
		}
		return at + ": `tool_use` ids were found without `tool_result` blocks immediately after: " + strings.Join(ids, ", ") +
			". Each `tool_use` block must have a corresponding `tool_result` block in the next message."
	}
	j.open = nil
	return ""
}

// end looks at what the request ends on.
func (j *anthropicJudge) end() string {
	n := len(j.r.Messages)
	if len(j.open) > 0 {
		return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", n-1, strings.Join(j.open, ", "))
	}
	if j.r.Messages[n-1].Role == "assistant" {
		return "This model does not support assistant message prefill. The conversation must end with a user message."
	}
	if n < 2 || j.r.Thinking == nil || j.r.Thinking.Type != "enabled" || j.r.Messages[n-1].Content.blocks[0].Type != "tool_result" {
		return ""
	}
	if first := j.r.Messages[n-2].Content.blocks[0].Type; first != "thinking" && first != "redacted_thinking" {
		return fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`", n-2, first)
	}
	return ""
}

func judgeText(at string, b anthropicBlock) string {
	switch {
	case b.Text == "":
		return at + ": text content blocks must be non-empty"
	case strings.TrimSpace(b.Text) == "":
		return at + ": text content blocks must contain non-whitespace text"
	}
	return ""
}

// judgePayload judges a block of a user message or a result.
func judgePayload(at string, b anthropicBlock) string {
	switch b.Type {
	case "text":
		return judgeText(at, b)
	case "image":
		switch b.Source.MediaType {
		case "image/png", "image/jpeg", "image/gif", "image/webp":
		default:
			return at + ".image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
		}
		if len(b.Source.Data) > anthropicMaxImage {
			return at + ".image.source.base64: image exceeds 5 MB maximum"
		}
	case "document":
		if b.Source.MediaType != "application/pdf" {
			return at + ".document.source.base64.media_type: Input should be 'application/pdf'"
		}
	default:
		return at + ": Input tag '" + b.Type + "' found using 'type' does not match any of the expected tags"
	}
	if _, err := base64.StdEncoding.DecodeString(b.Source.Data); err != nil || b.Source.Data == "" {
		return at + ": invalid base64 data"
	}
	return ""
}
