package responses

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"scorel/internal/model"
	"scorel/internal/model/wire"
	"scorel/protocol"
)

// request is the body. What grows with the conversation stands last, so that of
// two requests the longer begins with the shorter.
type request struct {
	Model             string     `json:"model"`
	Stream            bool       `json:"stream"`
	Store             bool       `json:"store"`
	Include           []string   `json:"include,omitempty"`
	PromptCacheKey    string     `json:"prompt_cache_key,omitempty"`
	MaxOutputTokens   int        `json:"max_output_tokens,omitempty"`
	Reasoning         *reasoning `json:"reasoning,omitempty"`
	Instructions      string     `json:"instructions,omitempty"`
	ParallelToolCalls bool       `json:"parallel_tool_calls,omitempty"`
	Tools             []tool     `json:"tools,omitempty"`
	Input             []item     `json:"input"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // on by default, and then it wants every property required
}

// Bounds of the API.
const (
	leastOutput = 16 // "Expected a value >= 16" of max_output_tokens
	maxCacheKey = 64 // characters of prompt_cache_key
)

// encode writes the body, with every character as it was: an escaped '<' would be
// seen, and imitated, by the model.
func (p *request) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// forget takes the reasoning out, and with it the ids of what belongs to it. It
// says whether there was any.
func (p *request) forget() bool {
	var out []item
	for _, it := range p.Input {
		if it.Type == typeReasoning {
			continue
		}
		it.ID, it.Status = "", ""
		out = append(out, it)
	}
	had := len(out) < len(p.Input)
	p.Input = out
	return had
}

func (m *Model) request(ctx context.Context, req model.Request) (*request, error) {
	if err := wire.Schemas(req.Tools); err != nil {
		return nil, err
	}
	input, err := m.input(ctx, req)
	if err != nil {
		return nil, err
	}
	p := &request{
		Model: m.info.ID, Stream: true, Input: input,
		MaxOutputTokens:   m.maxTokens(req),
		Reasoning:         m.reasoning(req),
		ParallelToolCalls: len(req.Tools) > 0,
	}
	if m.untold.Load() {
		p.Reasoning = p.Reasoning.untold()
	}
	if len(m.info.Thinking) > 0 { // others refuse it: "Encrypted content is not supported with this model."
		p.Include = []string{"reasoning.encrypted_content"}
	}
	if strings.TrimSpace(req.System) != "" {
		p.Instructions = req.System
	}
	p.PromptCacheKey = string(req.SessionID[:min(len(req.SessionID), maxCacheKey)])
	for _, t := range req.Tools {
		p.Tools = append(p.Tools, tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	return p, nil
}

// maxTokens is the output limit to send; 0 sends none.
func (m *Model) maxTokens(req model.Request) int {
	if n := wire.MaxTokens(m.info, req); n > 0 {
		return max(n, leastOutput)
	}
	return 0
}

// input makes the items of the conversation.
func (m *Model) input(ctx context.Context, req model.Request) ([]item, error) {
	out := []item{}
	for _, msg := range model.Fit(req.Messages, m.info) {
		if msg.Role == protocol.RoleAssistant {
			out = append(out, answered(msg.Content)...)
			continue
		}
		parts, err := m.parts(ctx, req, msg.Content)
		if err != nil {
			return nil, err
		}
		if msg.Role == protocol.RoleToolResult {
			out = append(out, item{Type: typeOutput, CallID: msg.ToolCallID, Output: output(parts)})
		} else {
			out = append(out, item{Type: typeMessage, Role: "user", Content: parts})
		}
	}
	return out, nil
}

// output is the result of a call: texts alone as one string, which is the form
// that every compatible server takes, and all else as a list
// (https://developers.openai.com/api/docs/guides/function-calling: "an array of
// image or file objects instead of a string").
func output(parts []part) any {
	var text []string
	for _, p := range parts {
		if p.Type != partText {
			return parts
		}
		text = append(text, p.Text)
	}
	return strings.Join(text, "\n")
}

func (m *Model) parts(ctx context.Context, req model.Request, content []protocol.Block) ([]part, error) {
	out := make([]part, 0, len(content))
	for _, b := range content {
		switch b.Type {
		case protocol.BlockText:
			out = append(out, part{Type: partText, Text: b.Text})
		case protocol.BlockImage, protocol.BlockFile:
			load, err := wire.Load(ctx, req, m.info, b)
			if err != nil {
				return nil, err
			}
			out = append(out, payload(b, load))
		}
	}
	return out, nil
}

func payload(b protocol.Block, load wire.Payload) part {
	data := "data:" + load.MediaType + ";base64," + base64.StdEncoding.EncodeToString(load.Data)
	switch {
	case load.Data == nil:
		return part{Type: partText, Text: load.Text}
	case b.Type == protocol.BlockImage:
		return part{Type: "input_image", Detail: "auto", ImageURL: data}
	}
	name := load.Name
	if name == "" {
		name = "document.pdf"
	}
	return part{Type: "input_file", Filename: name, FileData: data}
}
