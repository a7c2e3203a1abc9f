package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

type openaiAPI struct{}

func (openaiAPI) path() string { return "/chat/completions" }

func (openaiAPI) key(h http.Header) string {
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
}

func (openaiAPI) read(body []byte, c Config) (incoming, string) {
	var r openaiRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return incoming{}, "We could not parse the JSON body of your request. " + err.Error()
	}
	refused := judgeOpenAI(&r, c)
	in := incoming{model: r.Model, usage: r.StreamOptions != nil && r.StreamOptions.IncludeUsage}
	for _, t := range r.Tools {
		in.blocks = append(in.blocks, t)
	}
	for _, m := range r.Messages {
		if m.Role != "system" && m.Role != "developer" {
			in.view.Count++
		}
		// The vendor caches by itself, at any message.
		in.marks = append(in.marks, len(in.blocks))
		in.blocks = append(in.blocks, m.raw)
		switch m.Role {
		case "assistant":
			in.view.User, in.view.Result = "", ""
		case "user":
			in.view.User = joinLines(in.view.User, m.Content.text())
		case "tool":
			in.view.Result = joinLines(in.view.Result, m.Content.text())
		}
	}
	return in, refused
}

func (openaiAPI) refuse(f script.Failure) []byte {
	kind, text := f.Type, f.Message
	var code any
	switch {
	case f.TooLong:
		code = "context_length_exceeded"
	case f.Status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case f.Status == http.StatusTooManyRequests:
		code = "rate_limit_exceeded"
	}
	if kind == "" {
		kind = "invalid_request_error"
		if f.Status >= 500 || f.Status == http.StatusTooManyRequests {
			kind = "server_error"
		}
	}
	if text == "" {
		text = openaiErrorText(f)
	}
	return compact(object{"error": object{"message": text, "type": kind, "param": nil, "code": code}})
}

func openaiErrorText(f script.Failure) string {
	switch {
	case f.TooLong:
		return "This model's maximum context length is 128000 tokens. However, your messages resulted in 151234 tokens. Please reduce the length of the messages."
	case f.Status == http.StatusUnauthorized:
		return "Incorrect API key provided: sk-test-****wxyz. You can find your API key at https://platform.openai.com/account/api-keys."
	case f.Status == http.StatusTooManyRequests:
		return "Rate limit reached for requests"
	case f.Status == 529, f.Status == http.StatusServiceUnavailable:
		return "The engine is currently overloaded, please try again later"
	}
	return http.StatusText(f.Status)
}

func (openaiAPI) stream(w io.Writer, in incoming, id string) emitter {
	return &openaiEmitter{w: w, model: in.model, id: "chatcmpl-" + id, counts: in.usage, call: -1}
}

// openaiEmitter writes chunks as
// https://developers.openai.com/api/reference/resources/chat shows them, and
// thinking in reasoning_content as DeepSeek and most compatible servers do.
type openaiEmitter struct {
	w      io.Writer
	model  string
	id     string
	counts bool
	block  model.BlockStart
	call   int
}

func (e *openaiEmitter) send(choices []any, usage any) {
	chunk := object{"id": e.id, "object": "chat.completion.chunk", "created": 1763600000, "model": e.model, "choices": choices}
	if e.counts {
		chunk["usage"] = usage
	}
	fmt.Fprintf(e.w, "data: %s\n\n", compact(chunk))
}

func (e *openaiEmitter) delta(d object) {
	e.send([]any{object{"index": 0, "delta": d, "finish_reason": nil}}, nil)
}

func (e *openaiEmitter) begin(protocol.Usage) { e.delta(object{"role": "assistant", "content": ""}) }

func (e *openaiEmitter) start(b model.BlockStart) {
	e.block = b
	if b.Type == protocol.BlockToolUse {
		e.call++
		e.delta(object{"tool_calls": []any{object{
			"index": e.call, "id": b.CallID, "type": "function", "function": object{"name": b.Name, "arguments": ""},
		}}})
	}
}

func (e *openaiEmitter) chunk(text string) {
	switch e.block.Type {
	case protocol.BlockThinking:
		e.delta(object{"reasoning_content": text})
	case protocol.BlockToolUse:
		e.delta(object{"tool_calls": []any{object{"index": e.call, "function": object{"arguments": text}}}})
	default:
		e.delta(object{"content": text})
	}
}

func (e *openaiEmitter) end(script.Step) {}

func (e *openaiEmitter) done(stop protocol.StopReason, u protocol.Usage) {
	finish := "stop"
	switch stop {
	case protocol.StopToolUse:
		finish = "tool_calls"
	case protocol.StopMaxTokens:
		finish = "length"
	case protocol.StopRefusal:
		finish = "content_filter"
	}
	e.send([]any{object{"index": 0, "delta": object{}, "finish_reason": finish}}, nil)
	if e.counts {
		prompt := u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens
		e.send([]any{}, object{
			"prompt_tokens": prompt, "completion_tokens": u.OutputTokens, "total_tokens": prompt + u.OutputTokens,
			"prompt_tokens_details":     object{"cached_tokens": u.CacheReadTokens, "cache_write_tokens": u.CacheWriteTokens},
			"completion_tokens_details": object{"reasoning_tokens": u.ReasoningTokens},
		})
	}
	io.WriteString(e.w, "data: [DONE]\n\n")
}

func (e *openaiEmitter) fail(f script.Failure) {
	fmt.Fprintf(e.w, "data: %s\n\n", openaiAPI{}.refuse(f))
}

func (e *openaiEmitter) garbage() {
	io.WriteString(e.w, "data: {\"id\":\"chatcmpl\n\n\x00\xff\n\n")
}
