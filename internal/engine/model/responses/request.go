package responses

import (
	"cmp"
	"context"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// request is what a body is written of.
type request struct {
	model.Request
	fitted    []protocol.Message
	reasoning *reasoning
	items     []item
}

// Bounds of the API.
const (
	leastOutput = 16 // "Expected a value >= 16" of max_output_tokens
	maxCacheKey = 64 // characters of prompt_cache_key
)

func (m *Model) request(req model.Request) (*request, error) {
	if err := httpx.Schemas(req.Tools); err != nil {
		return nil, err
	}
	p := &request{Request: req, fitted: model.Fit(req.Messages, m.info), reasoning: m.reasoning(req)}
	if m.untold.Load() {
		p.reasoning = p.reasoning.untold()
	}
	p.items = make([]item, 0, len(p.fitted))
	for i := range p.fitted {
		switch msg := &p.fitted[i]; msg.Role {
		case protocol.RoleAssistant:
			p.items = append(p.items, answered(msg.Content)...)
		case protocol.RoleToolResult:
			p.items = append(p.items, item{kind: typeOutput, from: msg})
		default:
			p.items = append(p.items, item{kind: typeMessage, from: msg})
		}
	}
	return p, nil
}

// forget takes the reasoning out, and with it the ids of what belongs to it. It
// reports whether there was any.
func (p *request) forget() bool {
	var out []item
	for _, it := range p.items {
		if it.kind == typeReasoning {
			continue
		}
		it.id, it.status = "", ""
		out = append(out, it)
	}
	had := len(out) < len(p.items)
	p.items = out
	return had
}

// maxTokens is the output limit to send; 0 sends none.
func (m *Model) maxTokens(req model.Request) int {
	if n := httpx.MaxTokens(m.info, req); n > 0 {
		return max(n, leastOutput)
	}
	return 0
}

// body writes the request. What grows with the conversation is last, so that of
// two requests the longer begins with the shorter.
func (m *Model) body(ctx context.Context, p *request) ([]byte, error) {
	to := httpx.NewBody(p.Request, p.fitted, false)
	to.Object()
	to.Field("model", m.info.ID)
	to.Key("stream")
	to.Bool(true)
	to.Key("store")
	to.Bool(false)
	if len(m.info.Thinking) > 0 { // others refuse it: "Encrypted content is not supported with this model."
		to.Key("include")
		to.List()
		to.Text("reasoning.encrypted_content")
		to.EndList()
	}
	to.FieldIf("prompt_cache_key", string(p.SessionID[:min(len(p.SessionID), maxCacheKey)]))
	if n := m.maxTokens(p.Request); n > 0 {
		to.Key("max_output_tokens")
		to.Int(n)
	}
	p.reasoning.write(to)
	if strings.TrimSpace(p.System) != "" {
		to.Field("instructions", p.System)
	}
	tools(to, p.Tools)
	to.Key("input")
	to.List()
	for _, it := range p.items {
		if err := m.item(ctx, p, to, it); err != nil {
			return nil, err
		}
	}
	to.EndList()
	to.EndObject()
	return to.Bytes(), nil
}

func tools(to *httpx.Body, list []model.ToolSpec) {
	if len(list) == 0 {
		return
	}
	to.Key("parallel_tool_calls")
	to.Bool(true)
	to.Key("tools")
	to.List()
	for _, t := range list {
		to.Object()
		to.Field("type", "function")
		to.Field("name", t.Name)
		to.FieldIf("description", t.Description)
		to.Key("parameters")
		to.Raw(t.Schema)
		to.Key("strict") // on by default, and then it wants every property required
		to.Bool(false)
		to.EndObject()
	}
	to.EndList()
}

// item writes an item.
func (m *Model) item(ctx context.Context, p *request, to *httpx.Body, it item) error {
	var parts []httpx.Payload
	if it.from != nil {
		var err error
		if parts, err = httpx.Parts(ctx, p.Request, m.info, it.from.Content); err != nil {
			return err
		}
	}
	to.Object()
	to.Field("type", it.kind)
	to.FieldIf("id", it.id)
	switch {
	case it.kind == typeReasoning:
		to.Key("summary") // also when it is empty
		to.List()
		for _, s := range it.thought.Summary {
			part(to, "summary_text", s)
		}
		to.EndList()
		to.Field("encrypted_content", it.thought.Sealed)
	case it.kind == typeCall:
		to.Field("call_id", it.call.ID)
		to.Field("name", it.call.Name)
		to.Key("arguments") // with every character as it was: an escaped '<' would be seen, and imitated, by the model
		to.OpenText()
		to.AddJSON(it.call.Input)
		to.CloseText()
	case it.kind == typeOutput:
		to.Field("call_id", it.from.ToolCallID)
		to.Key("output")
		output(to, parts)
	case it.from != nil:
		to.Field("role", "user")
		to.Key("content")
		list(to, parts)
	default:
		to.Field("role", "assistant")
		to.FieldIf("status", it.status)
		to.FieldIf("phase", it.phase)
		spoken(to, it.texts)
	}
	to.EndObject()
	return nil
}

// spoken writes what the assistant said.
func spoken(to *httpx.Body, texts []string) {
	to.Key("content")
	to.List()
	for _, t := range texts {
		to.Object()
		to.Field("type", "output_text")
		to.Field("text", t)
		to.Key("annotations")
		to.List()
		to.EndList()
		to.EndObject()
	}
	to.EndList()
}

// output writes the result of a call: texts alone as one string, which is the form
// that every compatible server takes, and all else as a list
// (https://developers.openai.com/api/docs/guides/function-calling: "an array of
// image or file objects instead of a string").
func output(to *httpx.Body, parts []httpx.Payload) {
	if texts, rest := httpx.Texts(parts); len(rest) == 0 {
		to.Lines(texts)
	} else {
		list(to, parts)
	}
}

func list(to *httpx.Body, parts []httpx.Payload) {
	to.List()
	for _, p := range parts {
		if p.Data == nil {
			part(to, "input_text", p.Text)
			continue
		}
		to.Object()
		if p.Image {
			to.Field("type", "input_image")
			to.Field("detail", "auto")
			to.Key("image_url")
		} else {
			to.Field("type", "input_file")
			to.Field("filename", cmp.Or(p.Name, "document.pdf"))
			to.Key("file_data")
		}
		p.DataURL(to)
		to.EndObject()
	}
	to.EndList()
}

func part(to *httpx.Body, kind, text string) {
	to.Object()
	to.Field("type", kind)
	to.FieldIf("text", text)
	to.EndObject()
}
