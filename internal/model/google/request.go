package google

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"scorel/internal/model"
	"scorel/internal/model/wire"
	"scorel/protocol"
)

// body writes the request.
func (m *Model) body(ctx context.Context, req model.Request) ([]byte, error) {
	if err := wire.Schemas(req.Tools); err != nil {
		return nil, err
	}
	r := request{}
	var err error
	if r.Contents, err = m.convert(ctx, req); err != nil {
		return nil, err
	}
	if strings.TrimSpace(req.System) != "" {
		r.System = &content{Parts: []part{{Text: req.System}}}
	}
	if len(req.Tools) > 0 {
		r.Tools = []tools{{}}
		for _, t := range req.Tools {
			f := function{Name: t.Name, Description: t.Description, Schema: withoutDialect(t.Schema)}
			r.Tools[0].Functions = append(r.Tools[0].Functions, f)
		}
		r.ToolConfig = &toolConfig{}
		r.ToolConfig.Calling.Mode = "AUTO"
	}
	n := wire.MaxTokens(m.info, req)
	if think := m.think(req, n); n > 0 || think != nil {
		r.Generation = &generationConfig{MaxOutputTokens: n, Thinking: think}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// withoutDialect takes the name of the dialect from a schema: the API does not know
// the key. All else keeps its bytes.
func withoutDialect(schema json.RawMessage) json.RawMessage {
	const key = "$schema"
	d := json.NewDecoder(bytes.NewReader(schema))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return schema
	}
	for d.More() {
		start := d.InputOffset() // behind the brace or the value before, and white space
		name, err := d.Token()
		if err != nil {
			return schema
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return schema
		}
		if name != key {
			continue
		}
		head, tail := schema[:start], schema[d.InputOffset():]
		if bytes.HasSuffix(bytes.TrimSpace(head), []byte("{")) {
			tail = bytes.TrimPrefix(bytes.TrimSpace(tail), []byte(","))
		}
		return slices.Concat(head, tail)
	}
	return schema
}

// convert makes the API's contents. The results of one assistant message are one
// content, in the order of the calls and with nothing else in it; what a model
// cannot be given inside a result follows in the next content, joined with the
// user's own where one follows.
func (m *Model) convert(ctx context.Context, req model.Request) ([]content, error) {
	var out []content
	var late []part
	var open map[string]*call // by the id that their results name
	add := func(role string, parts []part) {
		if len(parts) > 0 {
			out = append(out, content{Role: role, Parts: parts})
		}
	}
	for _, msg := range model.Fit(req.Messages, m.info) {
		switch msg.Role {
		case protocol.RoleAssistant:
			add(roleUser, late)
			var parts []part
			parts, open = m.assistant(msg)
			add(roleModel, parts)
			late = nil
		case protocol.RoleUser:
			parts, err := m.parts(ctx, req, msg.Content)
			if err != nil {
				return nil, err
			}
			add(roleUser, append(late, parts...))
			late = nil
		case protocol.RoleToolResult:
			one, rest, err := m.result(ctx, req, msg, open[msg.ToolCallID])
			if err != nil {
				return nil, err
			}
			if out[len(out)-1].Role == roleModel {
				out = append(out, content{Role: roleUser})
			}
			results := &out[len(out)-1]
			results.Parts = append(results.Parts, one)
			if len(rest) > 0 {
				note := fmt.Sprintf("[what result %d, of %s, holds besides text:]", len(results.Parts), one.Result.Name)
				late = append(append(late, part{Text: note}), rest...)
			}
		}
	}
	add(roleUser, late)
	return out, nil
}

// skipValidator stands in for the signature of a call that another model made: from
// Gemini 3 on the first call of each step of a turn must have one
// (https://ai.google.dev/gemini-api/docs/thought-signatures, FAQ). It also goes into
// turns that are over, where none is demanded, so that the bytes of a conversation's
// beginning stay the same.
const skipValidator = "skip_thought_signature_validator"

// assistant makes the parts of a message, and gives its calls by the ids that its
// results name. From Gemini 3 on a call has an id. Older models do not know the
// field, and neither do servers that signed a call and gave it none.
func (m *Model) assistant(msg protocol.Message) ([]part, map[string]*call) {
	var out []part
	calls := map[string]*call{}
	ids := m.family == current
	for _, b := range msg.Content {
		if d := model.GoogleDataOf(b); b.Type == protocol.BlockToolUse && d.ThoughtSignature != "" && d.CallID == "" {
			ids = false
		}
	}
	for _, b := range msg.Content {
		data := model.GoogleDataOf(b)
		p := part{Signature: data.ThoughtSignature}
		switch b.Type {
		case protocol.BlockText:
			p.Text = b.Text
		case protocol.BlockThinking:
			p.Text, p.Thought = b.Thinking, true
		case protocol.BlockToolUse:
			p.Call = &call{ID: data.CallID, Name: b.Name, Args: b.Input}
			if p.Call.ID == "" && ids {
				p.Call.ID = b.ID
			}
			if len(calls) == 0 && p.Signature == "" && m.family == current {
				p.Signature = skipValidator
			}
			calls[b.ID] = p.Call
		}
		out = append(out, p)
	}
	return out, calls
}

// result makes the part for a result, and what has to follow the results.
func (m *Model) result(ctx context.Context, req model.Request, msg protocol.Message, c *call) (part, []part, error) {
	parts, err := m.parts(ctx, req, msg.Content)
	if err != nil {
		return part{}, nil, err
	}
	r := &result{ID: c.ID, Name: c.Name}
	var text []string
	var late []part
	for _, p := range parts {
		switch {
		case p.Inline == nil:
			text = append(text, p.Text)
		case m.family == current:
			r.Parts = append(r.Parts, p)
		default:
			late = append(late, p)
		}
	}
	said := strings.Join(text, "\n")
	switch {
	case said != "":
	case len(late) > 0:
		said = "(see the message behind the results)"
	default:
		said = "(see what is attached)"
	}
	if r.Response.Output = said; msg.IsError {
		r.Response = outcome{Error: said}
	}
	return part{Result: r}, late, nil
}

func (m *Model) parts(ctx context.Context, req model.Request, content []protocol.Block) ([]part, error) {
	out := make([]part, 0, len(content))
	for _, b := range content {
		switch b.Type {
		case protocol.BlockText:
			out = append(out, part{Text: b.Text})
		case protocol.BlockImage, protocol.BlockFile:
			load, err := wire.Load(ctx, req, m.info, b)
			if err != nil {
				return nil, err
			}
			out = append(out, payload(load))
		}
	}
	return out, nil
}

func payload(load wire.Payload) part {
	switch {
	case load.Data == nil:
		return part{Text: load.Text}
	case load.MediaType == "image/gif": // https://ai.google.dev/gemini-api/docs/image-understanding
		return part{Text: "[a GIF image, which this model cannot read]"}
	}
	return part{Inline: &blob{MediaType: load.MediaType, Data: base64.StdEncoding.EncodeToString(load.Data)}}
}
