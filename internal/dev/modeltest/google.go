package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"scorel/internal/engine/model"
	"scorel/internal/engine/model/script"
	"scorel/protocol"
)

// googleAPI is the Gemini API. The address of a request names its model.
type googleAPI struct{ address *url.URL }

func (googleAPI) path() string { return ":streamGenerateContent" }

func (googleAPI) key(h http.Header) string { return h.Get("X-Goog-Api-Key") }

func (googleAPI) at(u *url.URL) wireAPI { return googleAPI{u} }

func (a googleAPI) model() string {
	if a.address == nil {
		return ""
	}
	_, id, _ := strings.Cut(a.address.Path, "/models/")
	return strings.TrimSuffix(id, a.path())
}

func (a googleAPI) read(body []byte, _ Config) (incoming, string) {
	r, bad := parseGoogle(body)
	if bad != "" {
		return incoming{}, bad
	}
	refused := judgeGoogle(a.model(), r)
	if refused == "" && a.address != nil && a.address.Query().Get("alt") != "sse" {
		refused = "without alt=sse the answer is a JSON array, which these tests do not read"
	}
	in := incoming{model: a.model(), usage: true}
	r.describe(&in)
	return in, refused
}

// describe fills in what scripts and the cache look at.
func (r *googleRequest) describe(in *incoming) {
	// The vendor caches by itself, at any content.
	add := func(v any) {
		in.marks = append(in.marks, len(in.blocks))
		in.blocks = append(in.blocks, compact(v))
	}
	if r.System != nil {
		add(r.System)
	}
	for _, t := range r.Tools {
		add(t)
	}
	for _, c := range r.Contents {
		in.view.Count++
		add(c)
		if c.Role == "model" {
			in.view.User, in.view.Result = "", ""
			continue
		}
		for _, p := range c.Parts {
			switch {
			case p.Text != nil:
				in.view.User = joinLines(in.view.User, *p.Text)
			case p.Result != nil:
				in.view.Result = joinLines(in.view.Result, p.Result.text())
			}
		}
	}
}

// translate returns a failure as the vendor has it: a wrong key is a 400, overload a
// 503, and how long to wait is in the document, not in a header.
func (googleAPI) translate(f script.Failure) (out script.Failure, retryHeader float64) {
	switch f.Status {
	case http.StatusUnauthorized:
		f.Status = http.StatusBadRequest
		f.Type = "API_KEY_INVALID"
		if f.Message == "" {
			f.Message = "API key not valid. Please pass a valid API key."
		}
	case 529:
		f.Status = http.StatusServiceUnavailable
	}
	return f, 0
}

// refuse writes a google.rpc.Status
// (https://github.com/googleapis/googleapis/tree/master/google/rpc).
func (googleAPI) refuse(f script.Failure) []byte {
	text := f.Message
	if text == "" {
		text = googleErrorText(f)
	}
	details := []any{}
	if f.Type != "" {
		details = append(details, object{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": f.Type, "domain": "googleapis.com"})
	}
	if f.RetryAfter > 0 {
		details = append(details, object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%gs", f.RetryAfter)})
	}
	return compact(object{"error": object{"code": f.Status, "message": text, "status": googleStatus(f.Status), "details": details}})
}

// Names of codes: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto.
func googleStatus(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "INVALID_ARGUMENT"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusConflict:
		return "ABORTED"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusNotImplemented:
		return "UNIMPLEMENTED"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	case http.StatusInternalServerError:
		return "INTERNAL"
	}
	return "UNKNOWN"
}

func googleErrorText(f script.Failure) string {
	switch {
	case f.TooLong:
		return "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
	case f.Status == http.StatusTooManyRequests:
		return "Resource has been exhausted (e.g. check quota)."
	case f.Status == http.StatusServiceUnavailable:
		return "This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try again later."
	}
	return http.StatusText(f.Status)
}

func (a googleAPI) stream(w io.Writer, in incoming, id string) emitter {
	return &googleEmitter{w: w, model: in.model, id: id}
}

// googleEmitter writes chunks as https://ai.google.dev/api/generate-content and
// /gemini-api/docs/generate-content/thought-signatures show them: calls whole, from
// Gemini 3 on with an id and the first of an answer signed; an answer without calls
// signed at its end, in a part without text.
type googleEmitter struct {
	w         io.Writer
	model     string
	id        string
	prompt    protocol.Usage
	block     model.BlockStart
	args      strings.Builder
	last      string // the whole of the newest text
	called    bool
	malformed bool // a call was no JSON, so it was not sent
}

func (e *googleEmitter) send(parts []any, finish string, counts object) {
	candidate := object{"content": object{"parts": parts, "role": "model"}, "index": 0}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	e.event(compact(object{"candidates": []any{candidate}, "usageMetadata": counts, "modelVersion": e.model, "responseId": "resp-" + e.id}))
}

func (e *googleEmitter) event(data []byte) { fmt.Fprintf(e.w, "data: %s\r\n\r\n", data) }

func (e *googleEmitter) counts(u protocol.Usage) object {
	prompt := u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens
	out := object{"promptTokenCount": prompt, "totalTokenCount": prompt + u.OutputTokens}
	if u.CacheReadTokens > 0 {
		out["cachedContentTokenCount"] = u.CacheReadTokens
	}
	if n := u.OutputTokens - u.ReasoningTokens; n > 0 {
		out["candidatesTokenCount"] = n
	}
	if u.ReasoningTokens > 0 {
		out["thoughtsTokenCount"] = u.ReasoningTokens
	}
	return out
}

func (e *googleEmitter) begin(u protocol.Usage) {
	u.OutputTokens, u.ReasoningTokens = 0, 0
	e.prompt = u
}

func (e *googleEmitter) start(b model.BlockStart) {
	e.block = b
	e.args.Reset()
}

func (e *googleEmitter) chunk(text string) {
	switch e.block.Type {
	case protocol.BlockThinking:
		e.send([]any{object{"text": text, "thought": true}}, "", e.counts(e.prompt))
	case protocol.BlockToolUse:
		e.args.WriteString(text)
	default:
		e.send([]any{object{"text": text}}, "", e.counts(e.prompt))
	}
}

func (e *googleEmitter) end(step script.Step) {
	switch e.last = ""; step.Op {
	case script.OpText:
		e.last = step.Text
	case script.OpCall:
		if !isJSONObject(e.args.String()) {
			e.malformed = true
			return
		}
		call := object{"name": e.block.Name, "args": json.RawMessage(e.args.String())}
		part := object{"functionCall": call}
		if !PlainCalls(e.model) {
			call["id"] = e.block.CallID
			if !e.called {
				part["thoughtSignature"] = SignCall(e.model, e.block.Name, json.RawMessage(e.args.String()))
			}
		}
		e.called = true
		e.send([]any{part}, "", e.counts(e.prompt))
	}
}

func (e *googleEmitter) done(stop protocol.StopReason, u protocol.Usage) {
	finish := "STOP"
	switch {
	case stop == protocol.StopMaxTokens:
		finish = "MAX_TOKENS"
	case stop == protocol.StopRefusal:
		finish = "SAFETY"
	case e.malformed:
		finish = "MALFORMED_FUNCTION_CALL"
	}
	last := object{"text": ""}
	if e.last != "" && !e.called && !PlainCalls(e.model) {
		last["thoughtSignature"] = Sign(e.model, e.last)
	}
	e.send([]any{last}, finish, e.counts(u))
}

func (e *googleEmitter) fail(f script.Failure) {
	f, _ = googleAPI{}.translate(f)
	e.event(googleAPI{}.refuse(f))
}

func (e *googleEmitter) garbage() {
	io.WriteString(e.w, "data: {\"candidates\": [{\"content\r\n\r\n\x00\xff\r\n\r\n")
}

// SignCall is the signature of a call, as [Sign] is that of a text.
func SignCall(modelID, name string, args json.RawMessage) string {
	var v any
	_ = json.Unmarshal(args, &v) // args is an object
	return Sign(modelID, name+"\x00"+string(compact(v)))
}

// olderGemini reports whether a model is of the time before Gemini 3.
func olderGemini(id string) bool {
	return strings.Contains(id, "gemini-1.") || strings.Contains(id, "gemini-2.")
}

// PlainCalls reports whether calls of a model have neither ids nor signatures, and
// their results no media: those before Gemini 3, and Gemma.
func PlainCalls(id string) bool { return olderGemini(id) || strings.Contains(id, "gemma") }

func isJSONObject(s string) bool {
	return json.Valid([]byte(s)) && strings.HasPrefix(strings.TrimSpace(s), "{")
}
