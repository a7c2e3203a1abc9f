package anthropic

import (
	"context"
	"encoding/json"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
)

// write writes the list of messages.
func (m *Model) write(ctx context.Context, req model.Request, to *httpx.Body, messages []message) error {
	to.List()
	for _, msg := range messages {
		to.Object()
		to.Key("content")
		if err := m.writeParts(ctx, req, to, msg.parts); err != nil {
			return err
		}
		to.Field("role", msg.role)
		to.EndObject()
	}
	to.EndList()
	return nil
}

func (m *Model) writeParts(ctx context.Context, req model.Request, to *httpx.Body, list []part) error {
	to.List()
	for _, p := range list {
		if err := m.writePart(ctx, req, to, p); err != nil {
			return err
		}
	}
	to.EndList()
	return nil
}

func (m *Model) writePart(ctx context.Context, req model.Request, to *httpx.Body, p part) error {
	if p.result != nil {
		return m.writeResult(ctx, req, to, p)
	}
	switch b := p.from; b.Type {
	case protocol.BlockText:
		text(to, b.Text, p.mark)
	case protocol.BlockThinking:
		writeThinking(to, b)
	case protocol.BlockToolUse:
		to.Object()
		to.Field("id", b.ID)
		to.Key("input")
		to.Raw(b.Input)
		to.Field("name", b.Name)
		cacheMark(to, p.mark)
		to.Field("type", "tool_use")
		to.EndObject()
	case protocol.BlockImage, protocol.BlockFile:
		if p.load == nil {
			load, err := httpx.Load(ctx, req, m.info, *b)
			if err != nil {
				return err
			}
			p.load = &load
		}
		writePayload(to, p)
	}
	return nil
}

func (m *Model) writeResult(ctx context.Context, req model.Request, to *httpx.Body, p part) error {
	to.Object()
	to.Field("tool_use_id", p.result.ToolCallID)
	if p.result.IsError {
		to.Key("is_error")
		to.Bool(true)
	}
	cacheMark(to, p.mark)
	to.Key("content")
	if err := m.writeParts(ctx, req, to, p.inside); err != nil {
		return err
	}
	to.Field("type", "tool_result")
	to.EndObject()
	return nil
}

func writeThinking(to *httpx.Body, b *protocol.Block) {
	to.Object()
	if b.Redacted {
		var data string
		if json.Unmarshal(b.Provider.Data, &data) != nil {
			data = string(b.Provider.Data)
		}
		to.Field("data", data)
		to.Field("type", "redacted_thinking")
	} else {
		to.Field("signature", b.Signature)
		to.Field("thinking", b.Thinking)
		to.Field("type", "thinking")
	}
	to.EndObject()
}

// writePayload writes an image or document, or the text that stands for it.
func writePayload(to *httpx.Body, p part) {
	if p.load.Data == nil {
		text(to, p.load.Text, p.mark)
		return
	}
	to.Object()
	to.Key("source")
	to.Object()
	to.Key("data")
	to.OpenText()
	to.AddBase64(p.load.Data)
	to.CloseText()
	to.Field("media_type", p.load.MediaType)
	to.Field("type", "base64")
	to.EndObject()
	kind := "image"
	if p.from.Type == protocol.BlockFile {
		kind = "document"
		to.FieldIf("title", p.load.Name)
	}
	cacheMark(to, p.mark)
	to.Field("type", kind)
	to.EndObject()
}

func text(to *httpx.Body, s string, marked bool) {
	to.Object()
	to.Field("text", s)
	cacheMark(to, marked)
	to.Field("type", "text")
	to.EndObject()
}

// cacheMark marks the open object.
func cacheMark(to *httpx.Body, marked bool) {
	if !marked {
		return
	}
	to.Key("cache_control")
	to.Object()
	to.Field("type", "ephemeral")
	to.EndObject()
}
