package anthropic

import (
	"context"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// body writes the request, and returns the beta features that it takes. The members stand
// in the order, and with the escapes, that requests have always had: others would cost
// every user the cache once.
func (m *Model) body(ctx context.Context, req model.Request) (body []byte, betas []string, err error) {
	if err := httpx.Schemas(req.Tools); err != nil {
		return nil, nil, err
	}
	fitted := model.Fit(req.Messages, m.info)
	messages, err := m.convert(ctx, req, fitted)
	if err != nil {
		return nil, nil, err
	}
	system := strings.TrimSpace(req.System) != ""
	markTools := m.info.Cache && mark(messages, system) && !m.info.Compat.NoToolMarks
	n := m.maxTokens(req)
	think, betas := m.think(req, n, messages)

	to := httpx.NewBody(req, fitted, true)
	to.Object()
	to.Key("max_tokens")
	to.Int(n)
	to.Key("messages")
	if err := m.write(ctx, req, to, messages); err != nil {
		return nil, nil, err
	}
	to.Field("model", m.info.ID)
	if think.effort != "" {
		to.Key("output_config")
		to.Object()
		to.Field("effort", think.effort)
		to.EndObject()
	}
	if system {
		to.Key("system")
		to.List()
		text(to, req.System, m.info.Cache)
		to.EndList()
	}
	think.write(to)
	tools(to, req.Tools, markTools)
	to.Key("stream")
	to.Bool(true)
	to.EndObject()
	return to.Bytes(), betas, nil
}

// tools writes the tools, the last one with a mark or without.
func tools(to *httpx.Body, list []model.ToolSpec, marked bool) {
	if len(list) == 0 {
		return
	}
	to.Key("tools")
	to.List()
	for i, t := range list {
		to.Object()
		to.Key("input_schema")
		to.Raw(t.Schema)
		to.Field("name", t.Name)
		cacheMark(to, marked && i == len(list)-1)
		to.FieldIf("description", t.Description)
		to.EndObject()
	}
	to.EndList()
}

// Output limits of a request that names none.
const (
	defaultMaxTokens = 32_000
	unknownMaxTokens = 8_192 // for a model whose limit is not known
	leastMaxTokens   = 1_024
)

// maxTokens is the output limit: what the request says, kept within the model's
// own and within what the window leaves, because newer models refuse a request
// whose input and limit exceed the window together.
func (m *Model) maxTokens(req model.Request) int {
	limit := m.info.MaxTokens
	if limit <= 0 {
		limit = unknownMaxTokens
	}
	n := min(defaultMaxTokens, limit)
	if req.MaxTokens > 0 {
		n = req.MaxTokens
		if m.info.MaxTokens > 0 {
			n = min(n, m.info.MaxTokens)
		}
	}
	if m.info.ContextWindow > 0 {
		n = min(n, max(leastMaxTokens, m.info.ContextWindow-model.EstimateRequest(req)))
	}
	return n
}

// Roles of messages. Results are the user's.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

// message is one of the API's that is about to be written.
type message struct {
	role  string
	parts []part // at least one
}

// part is a block of a message. It points to where its text is.
type part struct {
	from *protocol.Block // nil for a result
	load *httpx.Payload  // what an image or file holds, where it was read already
	mark bool

	result *protocol.Message
	inside []part // of a result
}

// convert makes the API's messages. Results of one assistant message and the
// user's text after them become one user message, results first.
func (m *Model) convert(ctx context.Context, req model.Request, messages []protocol.Message) ([]message, error) {
	var out []message
	var late []part // what is after the results of the message
	flush := func() {
		if len(late) > 0 {
			out[len(out)-1].parts = append(out[len(out)-1].parts, late...)
			late = nil
		}
	}
	user := func() *message {
		if n := len(out); n == 0 || out[n-1].role != roleUser {
			out = append(out, message{role: roleUser})
		}
		return &out[len(out)-1]
	}
	for i := range messages {
		msg := &messages[i]
		if msg.Role != protocol.RoleToolResult {
			flush()
		}
		switch msg.Role {
		case protocol.RoleAssistant:
			out = append(out, message{role: roleAssistant, parts: parts(msg)})
		case protocol.RoleUser:
			u := user()
			u.parts = append(u.parts, parts(msg)...)
		case protocol.RoleToolResult:
			result, rest, err := m.result(ctx, req, msg)
			if err != nil {
				return nil, err
			}
			u := user()
			u.parts = append(u.parts, result)
			late = append(late, rest...)
		}
	}
	flush()
	return out, nil
}

func parts(msg *protocol.Message) []part {
	out := make([]part, len(msg.Content))
	for i := range msg.Content {
		out[i].from = &msg.Content[i]
	}
	return out
}

// result makes a result block. The API takes no images in error results: those are
// given back to be after the results.
func (m *Model) result(ctx context.Context, req model.Request, msg *protocol.Message) (result part, late []part, err error) {
	result = part{result: msg, inside: parts(msg)}
	if !msg.IsError {
		return result, nil, nil
	}
	result.inside = nil
	for _, p := range parts(msg) {
		if p.from.Type == protocol.BlockImage || p.from.Type == protocol.BlockFile {
			load, err := httpx.Load(ctx, req, m.info, *p.from)
			if err != nil {
				return result, nil, err
			}
			p.load = &load
		}
		if p.load != nil && p.load.Data != nil {
			late = append(late, p)
		} else {
			result.inside = append(result.inside, p)
		}
	}
	if len(late) > 0 {
		late = append([]part{said("[what the failed call " + msg.ToolCallID + " gave besides text:]")}, late...)
		if len(result.inside) == 0 {
			result.inside = []part{said("(see behind the results)")}
		}
	}
	return result, late, nil
}

func said(text string) part {
	b := protocol.Text(text)
	return part{from: &b}
}
