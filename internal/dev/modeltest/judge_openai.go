package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

type openaiRequest struct {
	Model               string            `json:"model"`
	Messages            []openaiMessage   `json:"messages"`
	Tools               []json.RawMessage `json:"tools"`
	Stream              bool              `json:"stream"`
	MaxTokens           *int              `json:"max_tokens"`
	MaxCompletionTokens *int              `json:"max_completion_tokens"`
	ReasoningEffort     string            `json:"reasoning_effort"`
	StreamOptions       *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type openaiMessage struct {
	Role       string        `json:"role"`
	Content    openaiContent `json:"content"`
	ToolCallID string        `json:"tool_call_id"`
	Reasoning  *string       `json:"reasoning_content"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`

	raw json.RawMessage
}

func (m *openaiMessage) UnmarshalJSON(data []byte) error {
	type plain openaiMessage
	if err := json.Unmarshal(data, (*plain)(m)); err != nil {
		return err
	}
	m.raw = append(json.RawMessage(nil), data...)
	return nil
}

// openaiContent is a string, a list of parts or null.
type openaiContent struct {
	set   bool
	parts []openaiPart
}

type openaiPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
	File struct {
		Data string `json:"file_data"`
	} `json:"file"`
	Cache json.RawMessage `json:"cache_control"`
}

func (c *openaiContent) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	c.set = true
	var s string
	if json.Unmarshal(data, &s) == nil {
		c.parts = []openaiPart{{Type: "text", Text: s}}
		return nil
	}
	return json.Unmarshal(data, &c.parts)
}

func (c openaiContent) text() string {
	var list []string
	for _, p := range c.parts {
		if p.Type == "text" {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}

const openaiIDLen = 40

// judgeOpenAI returns what the API would refuse about a request; empty when it takes
// it. The texts begin as the vendor's do.
//
// The API takes user messages in a row (the roles of its messages are not bound to
// an order); servers with the chat templates of Mistral, Gemma and Llama 2 answer
// "Conversation roles must alternate user/assistant/user/assistant/...", which
// [Config.Alternate] plays. Empty text is taken by OpenAI and refused by servers
// that pass it on to others (Bedrock, Anthropic's compatible endpoint), so the
// judge refuses it.
func judgeOpenAI(r *openaiRequest, c Config) string {
	switch {
	case r.Model == "":
		return "you must provide a model parameter"
	case len(r.Messages) == 0:
		return "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
	case r.MaxTokens != nil && r.MaxCompletionTokens != nil:
		return "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
	case r.StreamOptions != nil && !r.Stream:
		return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	case c.NoEffortWithTools && len(r.Tools) > 0 && r.ReasoningEffort != "none":
		return "Function tools with reasoning_effort are not supported for " + r.Model + " in /v1/chat/completions. " +
			"To use function tools, use /v1/responses or set reasoning_effort to 'none'."
	}
	if bad := judgeOpenAITools(r.Tools); bad != "" {
		return bad
	}
	j := openaiJudge{c: c}
	for i, m := range r.Messages {
		if bad := j.message(i, m); bad != "" {
			return bad
		}
	}
	return j.unanswered()
}

func judgeOpenAITools(tools []json.RawMessage) string {
	seen := map[string]bool{}
	for i, raw := range tools {
		var t struct {
			Type     string `json:"type"`
			Function struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		}
		switch json.Unmarshal(raw, &t); {
		case t.Type != "function":
			return fmt.Sprintf("Invalid value: '%s'. Supported values are: 'function' and 'custom'.", t.Type)
		case !toolName(t.Function.Name, openaiName):
			return fmt.Sprintf("Invalid 'tools[%d].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		case seen[t.Function.Name]:
			return "Tool names must be unique."
		case len(t.Function.Parameters) > 0 && !strings.HasPrefix(string(t.Function.Parameters), "{"):
			return fmt.Sprintf("Invalid type for 'tools[%d].function.parameters': expected an object", i)
		}
		seen[t.Function.Name] = true
	}
	return ""
}

type openaiJudge struct {
	c    Config
	open []string // calls without an answer yet
	last string   // the role before
}

func (j *openaiJudge) unanswered() string {
	if len(j.open) == 0 {
		return ""
	}
	return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
		"The following tool_call_ids did not have response messages: " + strings.Join(j.open, ", ")
}

func (j *openaiJudge) message(i int, m openaiMessage) string {
	at := fmt.Sprintf("messages[%d]", i)
	if m.Role != "tool" {
		if bad := j.unanswered(); bad != "" {
			return bad
		}
	}
	if m.Reasoning != nil && (!j.c.ReasoningContent || m.Role != "assistant") {
		return "Additional properties are not allowed ('reasoning_content' was unexpected) - '" + at + "'"
	}
	if j.c.Alternate && m.Role == j.last && (m.Role == "user" || m.Role == "assistant") {
		return "Conversation roles must alternate user/assistant/user/assistant/..."
	}
	defer func() { j.last = m.Role }()
	switch m.Role {
	case "assistant":
		return j.assistant(at, m)
	case "tool":
		return j.tool(at, m)
	case "user", "system", "developer":
		if !m.Content.set || len(m.Content.parts) == 0 {
			return "Invalid value for 'content': expected a string, got null. - '" + at + "'"
		}
		return judgeParts(at, m.Content.parts, m.Role == "user")
	}
	return fmt.Sprintf("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'. - '%s.role'", m.Role, at)
}

func (j *openaiJudge) assistant(at string, m openaiMessage) string {
	if len(m.Content.parts) == 0 && len(m.ToolCalls) == 0 {
		return "Invalid value for 'content': expected a string, got null. - '" + at + "'"
	}
	if j.c.ReasoningContent && m.Reasoning == nil {
		return "Missing `reasoning_content` field in the assistant message at message index " + at
	}
	if bad := judgeParts(at, m.Content.parts, false); bad != "" {
		return bad
	}
	for k, t := range m.ToolCalls {
		here := fmt.Sprintf("%s.tool_calls[%d]", at, k)
		switch {
		case t.ID == "":
			return "Missing required parameter: '" + here + ".id'."
		case len(t.ID) > openaiIDLen:
			return fmt.Sprintf("Invalid '%s.id': string too long. Expected a string with maximum length 40, but got a string with length %d instead.", here, len(t.ID))
		case t.Type != "function" || t.Function.Name == "":
			return "Missing required parameter: '" + here + ".function'."
		case !toolName(t.Function.Name, openaiName):
			return "Invalid '" + here + ".function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
		case !json.Valid([]byte(t.Function.Arguments)) || !strings.HasPrefix(t.Function.Arguments, "{"):
			return "Invalid '" + here + ".function.arguments': expected a JSON object"
		}
		for _, id := range j.open {
			if id == t.ID {
				return "Duplicate value for 'tool_call_id' of '" + t.ID + "' found"
			}
		}
		j.open = append(j.open, t.ID)
	}
	return ""
}

func (j *openaiJudge) tool(at string, m openaiMessage) string {
	for i, id := range j.open {
		if id == m.ToolCallID {
			j.open = append(append([]string(nil), j.open[:i]...), j.open[i+1:]...)
			if !m.Content.set {
				return "Missing required parameter: '" + at + ".content'."
			}
			return judgeParts(at, m.Content.parts, false)
		}
	}
	return "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'. - '" + at + "'"
}

// judgeParts judges content. Only the user's may hold more than text.
func judgeParts(at string, parts []openaiPart, user bool) string {
	for k, p := range parts {
		here := fmt.Sprintf("%s.content[%d]", at, k)
		switch {
		case len(p.Cache) > 0:
			return "Unknown parameter: '" + here + ".cache_control'."
		case p.Type == "text" && strings.TrimSpace(p.Text) == "":
			return here + ": text content blocks must be non-empty"
		case p.Type == "text":
		case !user || p.Type != "image_url" && p.Type != "file":
			return fmt.Sprintf("Invalid value: '%s'. Supported values are: 'text'. - '%s.type'", p.Type, here)
		case p.Type == "file" && !strings.HasPrefix(p.File.Data, "data:application/pdf;base64,"):
			return "Invalid file data: '" + here + ".file.file_data'. Expected a base64-encoded data URL with an application/pdf MIME type."
		case p.Type == "image_url" && !imageURL(p.ImageURL.URL):
			return "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp']."
		}
	}
	return ""
}

func imageURL(url string) bool {
	for _, kind := range [...]string{"png", "jpeg", "gif", "webp"} {
		if strings.HasPrefix(url, "data:image/"+kind+";base64,") {
			return true
		}
	}
	return strings.HasPrefix(url, "https://")
}
