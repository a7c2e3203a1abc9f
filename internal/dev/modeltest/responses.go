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

type responsesAPI struct{}

func (responsesAPI) path() string { return "/responses" }

func (responsesAPI) key(h http.Header) string {
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
}

func (responsesAPI) read(body []byte, c Config) (incoming, string) {
	var r responsesRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return incoming{}, "We could not parse the JSON body of your request. " + err.Error()
	}
	refused := judgeResponses(body, &r, c)
	in := incoming{model: r.Model, usage: true}
	r.describe(&in)
	return in, refused
}

// describe fills in what scripts and the cache look at. The vendor caches by
// itself, at any item.
func (r *responsesRequest) describe(in *incoming) {
	add := func(raw []byte) {
		in.marks = append(in.marks, len(in.blocks))
		in.blocks = append(in.blocks, raw)
	}
	for _, t := range r.Tools {
		add(t)
	}
	add([]byte(r.Instructions))
	for _, it := range r.Input.items {
		add(it.raw)
		switch {
		case it.Type == "function_call_output":
			in.view.Count++
			in.view.Result = joinLines(in.view.Result, it.Output.text())
		case it.kind() == "message" && it.Role == "user":
			in.view.Count++
			in.view.User = joinLines(in.view.User, it.Content.text())
		case it.kind() != "message" || it.Role == "assistant":
			in.view.Count++
			in.view.User, in.view.Result = "", ""
		}
	}
}

// Seal is the encrypted content that the server gives the reasoning item id of a
// model, and the only one that its judge takes.
func Seal(modelID, id string) string {
	sum := sha256.Sum256([]byte(modelID + "\x00" + id))
	return "gAAAAA" + hex.EncodeToString(sum[:16]) + "." + id
}

// sealed reports whether encrypted content is the server's own for a model, and of
// the item id where that is given.
func sealed(modelID, id, content string) bool {
	_, of, ok := strings.Cut(content, ".")
	return ok && content == Seal(modelID, of) && (id == "" || id == of)
}

func (responsesAPI) refuse(f script.Failure) []byte {
	kind, text := f.Type, f.Message
	if kind == "" {
		kind = "invalid_request_error"
		if f.Status >= 500 || f.Status == http.StatusTooManyRequests {
			kind = "server_error"
		}
	}
	if text == "" {
		text = responsesErrorText(f)
	}
	var code any
	if c := responsesErrorCode(f, text); c != "" {
		code = c
	}
	return compact(object{"error": object{"message": text, "type": kind, "param": nil, "code": code}})
}

// responsesErrorCode returns error.code: "" stands for null.
func responsesErrorCode(f script.Failure, text string) string {
	switch {
	case f.Type == "insufficient_quota":
		return f.Type
	case f.TooLong:
		return "context_length_exceeded"
	case strings.HasPrefix(text, "The encrypted content"):
		return "invalid_encrypted_content"
	case f.Status == http.StatusUnauthorized:
		return "invalid_api_key"
	case f.Status == http.StatusTooManyRequests:
		return "rate_limit_exceeded"
	case f.Status == http.StatusNotFound:
		return "model_not_found"
	case f.Status == 529, f.Status == http.StatusServiceUnavailable:
		return "server_is_overloaded"
	}
	return ""
}

func responsesErrorText(f script.Failure) string {
	switch {
	case f.TooLong:
		return "Your input exceeds the context window of this model. Please adjust your input and try again."
	case f.Status == http.StatusUnauthorized:
		return "Incorrect API key provided: sk-test-****wxyz. You can find your API key at https://platform.openai.com/account/api-keys."
	case f.Status == http.StatusTooManyRequests:
		return "Rate limit reached for requests"
	case f.Status == 529, f.Status == http.StatusServiceUnavailable:
		return "Our servers are currently overloaded. Please try again later."
	}
	return http.StatusText(f.Status)
}

func (responsesAPI) stream(w io.Writer, in incoming, id string) emitter {
	return &responsesEmitter{w: w, model: in.model, id: id, thought: -1}
}

// responsesEmitter writes events as
// https://developers.openai.com/api/reference/resources/responses/streaming-events
// shows them. The ids of items say what the judge wants to know of them later: an
// item directly after reasoning number 0 of its answer ends with _r0.
type responsesEmitter struct {
	w       io.Writer
	model   string
	id      string // of the answer
	seq     int
	output  []object
	block   model.BlockStart
	item    string // id of the open item
	thought int    // number of the reasoning item directly before; below 0: none
	text    strings.Builder
}

func (e *responsesEmitter) event(kind string, v object) {
	v["type"], v["sequence_number"] = kind, e.seq
	e.seq++
	fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", kind, compact(v))
}

// about writes an event about the open item.
func (e *responsesEmitter) about(kind string, v object) {
	v["item_id"], v["output_index"] = e.item, len(e.output)
	e.event(kind, v)
}

func (e *responsesEmitter) response(status string, more object) object {
	r := object{
		"id": "resp_" + e.id, "object": "response", "created_at": 1763600000, "status": status, "model": e.model,
		"output": append([]object{}, e.output...), "error": nil, "incomplete_details": nil, "usage": nil, "store": false,
	}
	for k, v := range more {
		r[k] = v
	}
	return object{"response": r}
}

func (e *responsesEmitter) begin(protocol.Usage) {
	e.event("response.created", e.response("in_progress", nil))
	e.event("response.in_progress", e.response("in_progress", nil))
}

func (e *responsesEmitter) start(b model.BlockStart) {
	e.block = b
	e.text.Reset()
	prefix := "msg"
	switch b.Type {
	case protocol.BlockThinking:
		prefix = "rs"
	case protocol.BlockToolUse:
		prefix = "fc"
	}
	e.item = fmt.Sprintf("%s_%s_%d", prefix, e.id, len(e.output))
	if e.thought >= 0 && prefix != "rs" {
		e.item += fmt.Sprintf("_r%d", e.thought)
	}
	e.event("response.output_item.added", object{"output_index": len(e.output), "item": e.whole("in_progress")})
	switch prefix {
	case "rs":
		e.about("response.reasoning_summary_part.added", object{"summary_index": 0, "part": object{"type": "summary_text", "text": ""}})
	case "msg":
		e.about("response.content_part.added", object{"content_index": 0, "part": e.part()})
	}
}

func (e *responsesEmitter) part() object {
	return object{"type": "output_text", "text": e.text.String(), "annotations": []any{}, "logprobs": []any{}}
}

// whole is the open item as far as it has come.
func (e *responsesEmitter) whole(status string) object {
	done := status != "in_progress"
	switch e.block.Type {
	case protocol.BlockThinking:
		it := object{"id": e.item, "type": "reasoning", "summary": []any{}, "encrypted_content": "gAAAAAincomplete"}
		if done {
			it["encrypted_content"] = Seal(e.model, e.item)
			it["summary"] = []any{object{"type": "summary_text", "text": e.text.String()}}
		}
		return it
	case protocol.BlockToolUse:
		return object{
			"id": e.item, "type": "function_call", "status": status, "arguments": e.text.String(),
			"call_id": e.block.CallID, "name": e.block.Name,
		}
	}
	it := object{"id": e.item, "type": "message", "status": status, "role": "assistant", "content": []any{}, "phase": "final_answer"}
	if done {
		it["content"] = []any{e.part()}
	}
	return it
}

func (e *responsesEmitter) chunk(text string) {
	e.text.WriteString(text)
	switch e.block.Type {
	case protocol.BlockThinking:
		e.about("response.reasoning_summary_text.delta", object{"summary_index": 0, "delta": text})
	case protocol.BlockToolUse:
		e.about("response.function_call_arguments.delta", object{"delta": text})
	default:
		e.about("response.output_text.delta", object{"content_index": 0, "delta": text, "logprobs": []any{}})
	}
}

func (e *responsesEmitter) end(script.Step) {
	switch e.block.Type {
	case protocol.BlockThinking:
		part := object{"type": "summary_text", "text": e.text.String()}
		e.about("response.reasoning_summary_text.done", object{"summary_index": 0, "text": e.text.String()})
		e.about("response.reasoning_summary_part.done", object{"summary_index": 0, "part": part})
	case protocol.BlockToolUse:
		e.about("response.function_call_arguments.done", object{"arguments": e.text.String(), "name": e.block.Name})
	default:
		e.about("response.output_text.done", object{"content_index": 0, "text": e.text.String(), "logprobs": []any{}})
		e.about("response.content_part.done", object{"content_index": 0, "part": e.part()})
	}
	it := e.whole("completed")
	e.event("response.output_item.done", object{"output_index": len(e.output), "item": it})
	e.thought = -1
	if e.block.Type == protocol.BlockThinking {
		e.thought = len(e.output)
	}
	e.output = append(e.output, it)
}

func (e *responsesEmitter) done(stop protocol.StopReason, u protocol.Usage) {
	input := u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens
	more := object{"usage": object{
		"input_tokens":          input,
		"input_tokens_details":  object{"cached_tokens": u.CacheReadTokens, "cache_write_tokens": u.CacheWriteTokens},
		"output_tokens":         u.OutputTokens,
		"output_tokens_details": object{"reasoning_tokens": u.ReasoningTokens},
		"total_tokens":          input + u.OutputTokens,
	}}
	switch stop {
	case protocol.StopMaxTokens:
		more["incomplete_details"] = object{"reason": "max_output_tokens"}
	case protocol.StopRefusal:
		more["incomplete_details"] = object{"reason": "content_filter"}
	default:
		e.event("response.completed", e.response("completed", more))
		return
	}
	e.event("response.incomplete", e.response("incomplete", more))
}

// fail writes what the vendor sends: an event of type error, and the failed
// answer.
func (e *responsesEmitter) fail(f script.Failure) {
	var doc struct {
		Error struct {
			Code    *string `json:"code"`
			Type    string  `json:"type"`
			Message string  `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(responsesAPI{}.refuse(f), &doc) != nil {
		return
	}
	code := doc.Error.Code
	if code == nil {
		code = &doc.Error.Type
	}
	e.event("error", object{"code": code, "message": doc.Error.Message, "param": nil})
	e.event("response.failed", e.response("failed", object{"error": object{"code": code, "message": doc.Error.Message}}))
}

func (e *responsesEmitter) garbage() {
	io.WriteString(e.w, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.del\n\n\x00\xff\n\n")
}
