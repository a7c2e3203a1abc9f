package openai

import (
	"cmp"
	"context"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// body writes the request. Its messages are first, so that of two requests of a
// conversation the longer begins with the shorter.
func (m *Model) body(ctx context.Context, req model.Request) ([]byte, error) {
	if err := httpx.Schemas(req.Tools); err != nil {
		return nil, err
	}
	fitted := model.Fit(req.Messages, m.info)
	to := httpx.NewBody(req, fitted, false)
	to.Object()
	to.Key("messages")
	w := writer{model: m, req: req, to: to}
	if err := w.messages(ctx, fitted); err != nil {
		return nil, err
	}
	to.Field("model", m.info.ID)
	if n := httpx.MaxTokens(m.info, req); n > 0 {
		if m.info.Compat.MaxTokensField == "max_tokens" {
			to.Key("max_tokens")
		} else {
			to.Key("max_completion_tokens")
		}
		to.Int(n)
	}
	if m.info.Provider == "openai" {
		to.FieldIf("prompt_cache_key", string(req.SessionID))
	}
	think := m.think(req)
	to.FieldIf("reasoning_effort", think.effort)
	to.Key("stream_options")
	to.Object()
	to.Key("include_usage")
	to.Bool(true)
	to.EndObject()
	tools(to, req.Tools)
	if think.field != "" {
		to.Key(think.field)
		think.value(to)
	}
	to.Key("stream")
	to.Bool(true)
	to.EndObject()
	return to.Bytes(), nil
}

func tools(to *httpx.Body, list []model.ToolSpec) {
	if len(list) == 0 {
		return
	}
	to.Key("tools")
	to.List()
	for _, t := range list {
		to.Object()
		to.Key("function")
		to.Object()
		to.Field("name", t.Name)
		to.FieldIf("description", t.Description)
		to.Key("parameters")
		to.Raw(t.Schema)
		to.EndObject()
		to.Field("type", "function")
		to.EndObject()
	}
	to.EndList()
}

// writer writes the messages of a request.
type writer struct {
	model *Model
	req   model.Request
	to    *httpx.Body
	late  []httpx.Payload // what is after the results
}

// messages writes the list. A tool message holds text only; images and files of
// results follow all results of the message in a user message, joined with the user's
// own where one follows.
func (w *writer) messages(ctx context.Context, list []protocol.Message) error {
	w.to.List()
	if strings.TrimSpace(w.req.System) != "" {
		w.to.Object()
		w.to.Field("content", w.req.System)
		w.role("system")
	}
	for i := range list {
		msg := &list[i]
		switch msg.Role {
		case protocol.RoleAssistant:
			w.flush()
			w.assistant(msg)
		case protocol.RoleUser:
			parts, err := httpx.Parts(ctx, w.req, w.model.info, msg.Content)
			if err != nil {
				return err
			}
			w.late = append(w.late, parts...)
			w.flush()
		case protocol.RoleToolResult:
			if err := w.result(ctx, msg); err != nil {
				return err
			}
		}
	}
	w.flush()
	w.to.EndList()
	return nil
}

// role writes the last member of a message, and ends it.
func (w *writer) role(name string) {
	w.to.Field("role", name)
	w.to.EndObject()
}

// flush writes a user message of the parts that wait; one text is sent as a string,
// which is the form that every compatible server takes.
func (w *writer) flush() {
	if len(w.late) == 0 {
		return
	}
	w.to.Object()
	w.to.Key("content")
	if len(w.late) == 1 && w.late[0].Data == nil {
		w.to.Text(w.late[0].Text)
	} else {
		w.to.List()
		for _, p := range w.late {
			w.part(p)
		}
		w.to.EndList()
	}
	w.role("user")
	w.late = nil
}

func (w *writer) part(p httpx.Payload) {
	w.to.Object()
	switch {
	case p.Data == nil:
		w.to.Field("text", p.Text)
		w.to.Field("type", "text")
	case p.Image:
		w.to.Key("image_url")
		w.to.Object()
		w.to.Key("url")
		p.DataURL(w.to)
		w.to.EndObject()
		w.to.Field("type", "image_url")
	default:
		w.to.Key("file")
		w.to.Object()
		w.to.Key("file_data")
		p.DataURL(w.to)
		w.to.Field("filename", cmp.Or(p.Name, "document.pdf"))
		w.to.EndObject()
		w.to.Field("type", "file")
	}
	w.to.EndObject()
}

func (w *writer) assistant(msg *protocol.Message) {
	var texts, thoughts []string
	calls := 0
	for _, b := range msg.Content {
		switch b.Type {
		case protocol.BlockText:
			texts = append(texts, b.Text)
		case protocol.BlockThinking:
			thoughts = append(thoughts, b.Thinking)
		case protocol.BlockToolUse:
			calls++
		}
	}
	w.to.Object()
	if len(texts) > 0 {
		w.to.Key("content")
		w.to.Lines(texts)
	}
	if calls > 0 {
		w.to.Key("tool_calls")
		w.to.List()
		for i := range msg.Content {
			if b := &msg.Content[i]; b.Type == protocol.BlockToolUse {
				w.call(b)
			}
		}
		w.to.EndList()
	}
	w.to.Field("role", "assistant")
	if m := w.model; m.info.Compat.ReasoningContent && len(m.info.Thinking) > 0 {
		// These servers want the field in every message while they think.
		w.to.Key("reasoning_content")
		w.to.Lines(thoughts)
	}
	w.to.EndObject()
}

// call writes a call. Its input is a text, with every character as it was: an escaped
// '<' would be seen, and imitated, by the model.
func (w *writer) call(b *protocol.Block) {
	w.to.Object()
	w.to.Field("id", b.ID)
	w.to.Key("function")
	w.to.Object()
	w.to.Key("arguments")
	w.to.OpenText()
	w.to.AddJSON(b.Input)
	w.to.CloseText()
	w.to.Field("name", b.Name)
	w.to.EndObject()
	w.to.Field("type", "function")
	w.to.EndObject()
}

// result writes a tool message. What it holds besides text waits for the user message
// after the results.
func (w *writer) result(ctx context.Context, msg *protocol.Message) error {
	parts, err := httpx.Parts(ctx, w.req, w.model.info, msg.Content)
	if err != nil {
		return err
	}
	texts, rest := httpx.Texts(parts)
	if len(rest) > 0 {
		w.late = append(append(w.late, httpx.Payload{Text: "[what the call " + msg.ToolCallID + " gave besides text:]"}), rest...)
		if len(texts) == 0 {
			texts = []string{"(see the message behind the results)"}
		}
	}
	w.to.Object()
	w.to.Key("content")
	w.to.Lines(texts)
	w.to.Field("tool_call_id", msg.ToolCallID)
	w.role("tool")
	return nil
}
