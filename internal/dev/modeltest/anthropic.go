package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

type anthropicAPI struct{}

func (anthropicAPI) path() string { return "/v1/messages" }

func (anthropicAPI) key(h http.Header) string { return h.Get("x-api-key") }

func (anthropicAPI) read(body []byte, _ Config) (incoming, string) {
	var r anthropicRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return incoming{}, "The request body is not valid JSON: " + err.Error()
	}
	refused := judgeAnthropic(&r)
	in := incoming{model: r.Model, usage: true}
	r.describe(&in)
	return in, refused
}

// describe fills in what scripts and the cache look at.
func (r *anthropicRequest) describe(in *incoming) {
	add := func(raw json.RawMessage) {
		bare, marked := unmark(raw)
		if marked {
			in.marks = append(in.marks, len(in.blocks))
		}
		in.blocks = append(in.blocks, bare)
	}
	for _, t := range r.Tools {
		add(t)
	}
	for _, b := range r.System.blocks {
		add(b.raw)
	}
	for _, m := range r.Messages {
		in.view.Count++
		if m.Role == "assistant" {
			in.view.User, in.view.Result = "", ""
		}
		for _, b := range m.Content.blocks {
			add(b.raw)
			switch {
			case m.Role != "user":
			case b.Type == "text":
				in.view.User = joinLines(in.view.User, b.Text)
			case b.Type == "tool_result":
				in.view.Result = joinLines(in.view.Result, b.Content.text())
			}
		}
	}
}

func joinLines(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// unmark takes cache_control out of a block.
func unmark(raw json.RawMessage) (bare []byte, marked bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return raw, false
	}
	_, marked = fields["cache_control"]
	delete(fields, "cache_control")
	return compact(fields), marked
}

// Sign is the signature that the server gives thinking of a model, and the only
// one that its judge takes.
func Sign(modelID, thinking string) string {
	sum := sha256.Sum256([]byte(modelID + "\x00" + thinking))
	return "sig_" + hex.EncodeToString(sum[:16])
}

func (anthropicAPI) refuse(f script.Failure) []byte {
	kind, text := f.Type, f.Message
	if kind == "" {
		kind = anthropicErrorType(f.Status)
	}
	if text == "" {
		text = anthropicErrorText(f)
	}
	return compact(map[string]any{
		"type":       "error",
		"error":      map[string]string{"type": kind, "message": text},
		"request_id": "req_test",
	})
}

// Error types by status: https://platform.claude.com/docs/en/api/errors.
func anthropicErrorType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

func anthropicErrorText(f script.Failure) string {
	switch {
	case f.TooLong:
		return "prompt is too long: 213462 tokens > 200000 maximum"
	case f.Status == http.StatusUnauthorized:
		return "invalid x-api-key"
	case f.Status == http.StatusTooManyRequests:
		return "This request would exceed your organization's rate limit"
	case f.Status == 529:
		return "Overloaded"
	}
	return http.StatusText(f.Status)
}

func (anthropicAPI) stream(w io.Writer, in incoming, id string) emitter {
	return &anthropicEmitter{w: w, model: in.model, id: "msg_" + id}
}

// anthropicEmitter writes events as
// https://platform.claude.com/docs/en/build-with-claude/streaming shows them.
type anthropicEmitter struct {
	w     io.Writer
	model string
	id    string
	block model.BlockStart
}

func (e *anthropicEmitter) event(name string, v any) {
	fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, compact(v))
}

type object = map[string]any

func (e *anthropicEmitter) begin(u protocol.Usage) {
	e.event("message_start", object{"type": "message_start", "message": object{
		"id": e.id, "type": "message", "role": "assistant", "model": e.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": object{
			"input_tokens": u.InputTokens, "cache_creation_input_tokens": u.CacheWriteTokens,
			"cache_read_input_tokens": u.CacheReadTokens, "output_tokens": 1,
		},
	}})
	e.event("ping", object{"type": "ping"})
}

func (e *anthropicEmitter) start(b model.BlockStart) {
	e.block = b
	var c object
	switch b.Type {
	case protocol.BlockThinking:
		c = object{"type": "thinking", "thinking": "", "signature": ""}
	case protocol.BlockToolUse:
		c = object{"type": "tool_use", "id": b.CallID, "name": b.Name, "input": object{}}
	default:
		c = object{"type": "text", "text": ""}
	}
	e.event("content_block_start", object{"type": "content_block_start", "index": b.Index, "content_block": c})
}

func (e *anthropicEmitter) delta(d object) {
	e.event("content_block_delta", object{"type": "content_block_delta", "index": e.block.Index, "delta": d})
}

func (e *anthropicEmitter) chunk(text string) {
	switch e.block.Type {
	case protocol.BlockThinking:
		e.delta(object{"type": "thinking_delta", "thinking": text})
	case protocol.BlockToolUse:
		e.delta(object{"type": "input_json_delta", "partial_json": text})
	default:
		e.delta(object{"type": "text_delta", "text": text})
	}
}

func (e *anthropicEmitter) end(step script.Step) {
	if step.Op == script.OpThinking {
		e.delta(object{"type": "signature_delta", "signature": Sign(e.model, step.Text)})
	}
	e.event("content_block_stop", object{"type": "content_block_stop", "index": e.block.Index})
}

func (e *anthropicEmitter) done(stop protocol.StopReason, u protocol.Usage) {
	e.event("message_delta", object{
		"type":  "message_delta",
		"delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{
			"input_tokens": u.InputTokens, "cache_creation_input_tokens": u.CacheWriteTokens,
			"cache_read_input_tokens": u.CacheReadTokens, "output_tokens": u.OutputTokens,
			"output_tokens_details": object{"thinking_tokens": u.ReasoningTokens},
		},
	})
	e.event("message_stop", object{"type": "message_stop"})
}

func (e *anthropicEmitter) fail(f script.Failure) {
	fmt.Fprintf(e.w, "event: error\ndata: %s\n\n", anthropicAPI{}.refuse(f))
}

func (e *anthropicEmitter) garbage() {
	io.WriteString(e.w, "event: content_block_delta\ndata: {\"type\":\"content_block_del\n\n"+strings.Repeat("\x00\xff", 4)+"\n\n")
}
