package httpx

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"scorel/internal/engine/model"
)

// Fail turns the failure of a request or of its answer into what [model.Model]
// promises: the error of ctx, or a *model.Error; nil is an answer that ended too early. The error that it came from is not kept inside: it can
// hold the request with its key.
func (p Peer) Fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var (
		known   *model.Error
		status  *statusError
		body    *bodyError
		syntax  *json.SyntaxError
		typ     *json.UnmarshalTypeError
		certErr *tls.CertificateVerificationError
		hostErr x509.HostnameError
	)
	switch {
	case err == nil:
		return p.Cut()
	case errors.As(err, &known):
		return known
	case errors.As(err, &status):
		return p.status(status)
	case errors.As(err, &body):
		if parseRefusal(body.body).text == "" {
			return p.Broken("a JSON document instead of a stream")
		}
		return p.Event(body.body)
	case errors.Is(err, errHTML):
		return p.transient("%s sent an HTML page instead of an answer; check baseUrl and any proxy in between", p.Name)
	case errors.Is(err, errLine), errors.Is(err, errStream):
		return p.transient("%s sent too much: %v", p.Name, err)
	case errors.As(err, &syntax), errors.As(err, &typ):
		return p.transient("%s sent an event that is not valid JSON", p.Name)
	case errors.As(err, &certErr), errors.As(err, &hostErr):
		return &model.Error{Class: model.ClassInvalid, Message: fmt.Sprintf("the certificate of %s is not trusted", p.host())}
	}
	return p.transient("the connection to %s (%s) failed: %s", p.Name, p.host(), p.quote(reason(err)))
}

// Cut is the failure of a stream that ended without its end event.
func (p Peer) Cut() *model.Error {
	return p.transient("the answer of %s ended before it was complete", p.Name)
}

// Broken is the failure of an answer that makes no sense.
func (p Peer) Broken(what string) *model.Error { return p.transient("%s sent %s", p.Name, what) }

func (p Peer) transient(format string, args ...any) *model.Error {
	return &model.Error{Class: model.ClassTransient, Message: fmt.Sprintf(format, args...)}
}

// refusal is what a server's error document says.
type refusal struct {
	kind   string // error.type
	code   string // error.code, as text
	text   string
	google details
}

// status maps an answer with an error status.
func (p Peer) status(e *statusError) *model.Error {
	r := parseRefusal(e.body)
	out := p.classify(e.status, r)
	if out.RetryAfter = retryAfter(e.header); out.RetryAfter == 0 {
		out.RetryAfter = r.google.retry
	}
	return out
}

// Event maps the document of an error that came inside a stream, or in place of
// one, under status 200.
func (p Peer) Event(doc []byte) *model.Error {
	r := parseRefusal(doc)
	out := p.classify(r.status(), r)
	switch out.RetryAfter = r.google.retry; {
	case out.RetryAfter > 0:
	case out.Status == http.StatusTooManyRequests && out.Class == model.ClassTransient:
		out.RetryAfter = waitInText(r.text)
	}
	return out
}

// waitInText reads how long OpenAI wants to be left alone out of its text, which
// is the only place where a failure inside a stream says it: "Please try again in
// 11.054s.", "... in 28ms.", "... in 1m30s.".
func waitInText(text string) time.Duration {
	_, rest, ok := strings.Cut(text, "try again in ")
	if !ok {
		return 0
	}
	word, _, _ := strings.Cut(rest, " ")
	d, err := time.ParseDuration(strings.TrimRight(word, ".,"))
	if err != nil {
		return 0
	}
	return max(0, min(d, 24*time.Hour))
}

// status is the HTTP status that belongs to the error's type.
func (r refusal) status() int {
	if n, err := strconv.Atoi(r.code); err == nil && n >= 400 && n < 600 { // OpenRouter
		return n
	}
	for _, word := range [...]string{r.kind, r.code} {
		switch word {
		case "invalid_request_error", "invalid_request", "context_length_exceeded",
			// Of failed answers of the Responses API, whose codes stand alone.
			"invalid_prompt", "invalid_encrypted_content", "bio_policy", "misalignment_policy_violation",
			"data_residency_mismatch", "invalid_image", "invalid_image_format", "invalid_base64_image",
			"invalid_image_url", "invalid_image_mode", "image_too_large", "image_too_small", "image_parse_error",
			"image_content_policy_violation", "image_file_too_large", "unsupported_image_media_type",
			"empty_image_file", "failed_to_download_image", "image_file_not_found":
			return http.StatusBadRequest
		case "authentication_error", "invalid_api_key":
			return http.StatusUnauthorized
		case "permission_error":
			return http.StatusForbidden
		case "not_found_error", "model_not_found":
			return http.StatusNotFound
		case "request_too_large":
			return http.StatusRequestEntityTooLarge
		case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota":
			return http.StatusTooManyRequests
		case "overloaded_error":
			return statusOverloaded
		}
	}
	return http.StatusInternalServerError
}

const statusOverloaded = 529 // Anthropic's

func (p Peer) classify(status int, r refusal) *model.Error {
	out := &model.Error{Class: model.ClassInvalid, Status: status}
	said := p.quote(r.text)
	if said == "" {
		said = strings.ToLower(http.StatusText(status))
	}
	switch {
	case overflows(status, first(r.code, r.kind), r.text):
		out.Class = model.ClassTooLong
		out.Message = fmt.Sprintf("the conversation is too long for the model: %s (%d: %s)", p.Name, status, said)
		return out
	case status == http.StatusUnauthorized || status == http.StatusForbidden || r.google.badKey:
		out.Class = model.ClassAuth
		out.Message, out.Said = p.authMessage(status, said), said
		return out
	case r.code == "insufficient_quota" || r.kind == "insufficient_quota" || status == http.StatusPaymentRequired:
		out.Message = fmt.Sprintf("the account at %s has no credit left (%d: %s)", p.Name, status, said)
		return out
	case r.google.dayIsOver:
		out.Message = fmt.Sprintf("the quota of the day at %s is used up (%d: %s)", p.Name, status, said)
		return out
	case status == statusOverloaded, r.kind == "overloaded_error", r.google.unavailable, r.code == "server_is_overloaded",
		status >= 500 && strings.Contains(strings.ToLower(r.text), "overloaded"):
		out.Class = model.ClassOverloaded
		out.Message = fmt.Sprintf("%s is overloaded (%d: %s)", p.Name, status, said)
		return out
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests, status >= 500:
		out.Class = model.ClassTransient
	case status == http.StatusNotFound:
		said += "; check the model's id and baseUrl"
	case status >= 300 && status < 400:
		said = "it redirects to another address; set that one as baseUrl"
	}
	out.Message = fmt.Sprintf("%s answered %d: %s", p.Name, status, said)
	return out
}

func (p Peer) authMessage(status int, said string) string {
	where := p.KeyName
	if where == "" {
		where = "apiKeyEnv of the model"
	}
	if p.Key == "" {
		return fmt.Sprintf("%s needs a key and none is set (%d: %s): set %s, or enter the key with /login", p.Name, status, said, where)
	}
	return fmt.Sprintf("%s refused the key from %s (%d: %s): put a valid one there, or enter it with /login", p.Name, where, status, said)
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// parseRefusal reads an error document in any of the forms in use:
// {"error":{"type","code","message"}}, {"error":"text"}, {"message"},
// {"detail"}, a bare error object, Google's with status and details, an HTML page,
// plain text.
func parseRefusal(doc []byte) refusal {
	type object struct {
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Status  json.RawMessage `json:"status"`
		Details json.RawMessage `json:"details"`
		Error   json.RawMessage `json:"error"`
	}
	trimmed := strings.TrimSpace(string(doc))
	var o object
	if strings.HasPrefix(trimmed, "[") { // Gemini's compatible server wraps in a list
		var list []json.RawMessage
		if json.Unmarshal(doc, &list) == nil && len(list) > 0 {
			return parseRefusal(list[0])
		}
	}
	if err := json.Unmarshal([]byte(trimmed), &o); err != nil {
		switch {
		case strings.HasPrefix(trimmed, "<"):
			return refusal{text: "an HTML page"}
		case strings.HasPrefix(trimmed, "{"):
			return refusal{text: "an error document that cannot be read"}
		}
		return refusal{text: trimmed}
	}
	if len(o.Error) > 0 && string(o.Error) != "null" {
		var text string
		if json.Unmarshal(o.Error, &text) == nil {
			return refusal{text: first(text, o.Message), kind: o.Type, code: word(o.Code)}
		}
		var inner object
		if json.Unmarshal(o.Error, &inner) == nil {
			o = inner
		}
	}
	return refusal{kind: o.Type, code: word(o.Code), text: first(o.Message, word(o.Detail)), google: readDetails(word(o.Status), o.Details)}
}

// word returns a JSON string or number as text.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// retryAfter reads how long the server wants to be left alone, in seconds, in
// milliseconds or as a date against the server's own clock. 0: it does not say.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return seconds(s)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now))
}

func seconds(s float64) time.Duration {
	const day = 24 * 60 * 60
	if !(s > 0) { // also NaN
		return 0
	}
	return time.Duration(min(s, day) * float64(time.Second))
}
