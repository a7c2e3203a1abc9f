package google

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/httpx"
	"scorel/protocol"
	"scorel/protocol/jsonscan"
)

// body writes the request, as in https://ai.google.dev/api/generate-content.
func (m *Model) body(ctx context.Context, req model.Request) ([]byte, error) {
	if err := httpx.Schemas(req.Tools); err != nil {
		return nil, err
	}
	fitted := model.Fit(req.Messages, m.info)
	to := httpx.NewBody(req, fitted, false)
	w := writer{model: m, req: req, to: to}
	to.Object()
	if strings.TrimSpace(req.System) != "" {
		to.Key("systemInstruction")
		w.content("", func() { w.text(req.System) })
	}
	tools(to, req.Tools)
	to.Key("contents")
	to.List()
	if err := w.contents(ctx, fitted); err != nil {
		return nil, err
	}
	to.EndList()
	n := httpx.MaxTokens(m.info, req)
	if think := m.think(req, n); n > 0 || think != nil {
		to.Key("generationConfig")
		to.Object()
		if n > 0 {
			to.Key("maxOutputTokens")
			to.Int(n)
		}
		think.write(to)
		to.EndObject()
	}
	to.EndObject()
	return to.Bytes(), nil
}

// tools declares the tools. Of the two forms for their input the JSON Schema is sent:
// the other, "parameters", knows a part of it only and refuses all else.
func tools(to *httpx.Body, list []model.ToolSpec) {
	if len(list) == 0 {
		return
	}
	to.Key("tools")
	to.List()
	to.Object()
	to.Key("functionDeclarations")
	to.List()
	for _, t := range list {
		to.Object()
		to.Field("name", t.Name)
		to.FieldIf("description", t.Description)
		to.Key("parametersJsonSchema")
		to.Raw(withoutDialect(t.Schema))
		to.EndObject()
	}
	to.EndList()
	to.EndObject()
	to.EndList()
	to.Key("toolConfig")
	to.Object()
	to.Key("functionCallingConfig")
	to.Object()
	to.Field("mode", "AUTO")
	to.EndObject()
	to.EndObject()
}

// withoutDialect takes the name of the dialect from a schema: the API does not know
// the key. All else keeps its bytes.
func withoutDialect(schema json.RawMessage) json.RawMessage {
	start := -1 // of the member, with the white space before it
	for m := jsonscan.NewMembers(schema); m.Next(); {
		end := m.At + len(m.Value)
		if string(m.Key) != "$schema" {
			start = end
			continue
		}
		if start >= 0 {
			return slices.Concat(schema[:start], schema[end:])
		}
		brace := bytes.IndexByte(schema, '{') + 1
		return slices.Concat(schema[:brace], bytes.TrimPrefix(bytes.TrimLeft(schema[end:], " \t\r\n"), []byte(",")))
	}
	return schema
}

// writer writes the contents of a request.
type writer struct {
	model   *Model
	req     model.Request
	to      *httpx.Body
	calls   map[string]called // of the last message, by the id that their results name
	results int               // in the open content; 0 when none is open
	late    []httpx.Payload   // what is after the results
}

// called is a call as it was written.
type called struct{ id, name string }

// contents writes the list. The results of one assistant message are one content, in
// the order of the calls and with nothing else in it; what a model cannot be given
// inside a result follows in the next content, joined with the user's own where one
// follows.
func (w *writer) contents(ctx context.Context, list []protocol.Message) error {
	for i := range list {
		msg := &list[i]
		switch msg.Role {
		case protocol.RoleAssistant:
			w.flush()
			w.content(roleModel, func() { w.assistant(msg) })
		case protocol.RoleUser:
			parts, err := w.parts(ctx, msg)
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
	return nil
}

// content writes one content with its parts.
func (w *writer) content(role string, parts func()) {
	w.to.Object()
	w.to.FieldIf("role", role)
	w.to.Key("parts")
	w.to.List()
	parts()
	w.to.EndList()
	w.to.EndObject()
}

// flush ends the content of results, and writes what waits as another of the user.
func (w *writer) flush() {
	if w.results > 0 {
		w.results = 0
		w.to.EndList()
		w.to.EndObject()
	}
	if len(w.late) > 0 {
		w.content(roleUser, func() {
			for _, p := range w.late {
				w.part(p)
			}
		})
		w.late = nil
	}
}

// parts returns the parts of a message; GIF images become texts
// (https://ai.google.dev/gemini-api/docs/image-understanding).
func (w *writer) parts(ctx context.Context, msg *protocol.Message) ([]httpx.Payload, error) {
	list, err := httpx.Parts(ctx, w.req, w.model.info, msg.Content)
	for i, p := range list {
		if p.MediaType == "image/gif" {
			list[i] = httpx.Payload{Text: "[a GIF image, which this model cannot read]"}
		}
	}
	return list, err
}

func (w *writer) text(text string) {
	w.to.Object()
	w.to.Field("text", text)
	w.to.EndObject()
}

func (w *writer) part(p httpx.Payload) {
	switch {
	case p.Data == nil:
		w.text(p.Text)
	default:
		w.to.Object()
		w.to.Key("inlineData")
		w.to.Object()
		w.to.Field("mimeType", p.MediaType)
		w.to.Key("data")
		w.to.OpenText()
		w.to.AddBase64(p.Data)
		w.to.CloseText()
		w.to.EndObject()
		w.to.EndObject()
	}
}

// skipValidator is in for the signature of a call that another model made: from
// Gemini 3 on the first call of each step of a turn must have one
// (https://ai.google.dev/gemini-api/docs/thought-signatures, FAQ). It also goes into
// turns that are over, where none is demanded, so that the bytes of a conversation's
// beginning stay the same.
const skipValidator = "skip_thought_signature_validator"

// assistant writes the parts of a message. From Gemini 3 on a call has an id. Older
// models do not know the field, and neither do servers that signed a call and gave it
// none.
func (w *writer) assistant(msg *protocol.Message) {
	ids := w.model.family == current
	for _, b := range msg.Content {
		if d := model.GoogleDataOf(b); b.Type == protocol.BlockToolUse && d.ThoughtSignature != "" && d.CallID == "" {
			ids = false
		}
	}
	w.calls = map[string]called{}
	for _, b := range msg.Content {
		data := model.GoogleDataOf(b)
		w.to.Object()
		switch b.Type {
		case protocol.BlockText:
			w.to.Field("text", b.Text)
		case protocol.BlockThinking:
			w.to.Field("text", b.Thinking)
			w.to.Key("thought")
			w.to.Bool(true)
		case protocol.BlockToolUse:
			c := called{id: data.CallID, name: b.Name}
			if c.id == "" && ids {
				c.id = b.ID
			}
			if len(w.calls) == 0 && data.ThoughtSignature == "" && w.model.family == current {
				data.ThoughtSignature = skipValidator
			}
			w.calls[b.ID] = c
			w.to.Key("functionCall")
			w.to.Object()
			w.to.FieldIf("id", c.id)
			w.to.Field("name", c.name)
			w.to.Key("args")
			w.to.Raw(b.Input)
			w.to.EndObject()
		}
		w.to.FieldIf("thoughtSignature", data.ThoughtSignature)
		w.to.EndObject()
	}
}

// result writes the part for a result, and keeps what has to follow the results.
func (w *writer) result(ctx context.Context, msg *protocol.Message) error {
	parts, err := w.parts(ctx, msg)
	if err != nil {
		return err
	}
	texts, media := httpx.Texts(parts)
	if w.results == 0 {
		w.to.Object()
		w.to.Field("role", roleUser)
		w.to.Key("parts")
		w.to.List()
	}
	w.results++
	c := w.calls[msg.ToolCallID]
	if w.model.family != current && len(media) > 0 {
		note := fmt.Sprintf("[what result %d, of %s, holds besides text:]", w.results, c.name)
		w.late = append(append(w.late, httpx.Payload{Text: note}), media...)
		media = nil
		if len(texts) == 0 {
			texts = []string{"(see the message behind the results)"}
		}
	}
	if len(texts) == 0 {
		texts = []string{"(see what is attached)"}
	}
	w.to.Object()
	w.to.Key("functionResponse")
	w.to.Object()
	w.to.FieldIf("id", c.id)
	w.to.Field("name", c.name)
	w.to.Key("response") // the vendor knows these two keys in it
	w.to.Object()
	if msg.IsError {
		w.to.Key("error")
	} else {
		w.to.Key("output")
	}
	w.to.Lines(texts)
	w.to.EndObject()
	if len(media) > 0 { // these models read it there
		w.to.Key("parts")
		w.to.List()
		for _, p := range media {
			w.part(p)
		}
		w.to.EndList()
	}
	w.to.EndObject()
	w.to.EndObject()
	return nil
}
