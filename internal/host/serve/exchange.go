package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"scorel/internal/host"
	"scorel/protocol"
)

// bodyStall is how long a part of a body may take to come.
const bodyStall = 30 * time.Second

// keyHeader is the header that names a request.
const keyHeader = "Idempotency-Key"

// maxKey bounds an Idempotency-Key, in bytes.
const maxKey = 256

// exchange is one HTTP request and its answer.
type exchange struct {
	s      *Server
	w      http.ResponseWriter
	r      *http.Request
	values map[string]string // of the parameters in the path
	plain  bool              // the content is a text
	keyed  bool              // the request is named by the header
	flat   bool              // fields of meta stand in the body itself
}

// request carries out the request of a row.
func (s *Server) request(x *exchange, row *row) {
	f, err := x.fields(row)
	if err != nil {
		x.fail(err)
		return
	}
	id, repeat, err := x.requestID(f)
	if err != nil {
		x.fail(err)
		return
	}
	call, err := f.call(row.request, id, repeat)
	if err != nil {
		x.fail(err)
		return
	}
	conn, err := s.scripts.get(x.r.Context())
	if err != nil {
		x.fail(err)
		return
	}
	defer s.scripts.put()
	data, err := x.call(conn, call)
	if err != nil {
		x.fail(err)
		return
	}
	x.answer(http.StatusOK, data)
}

// call carries out one call; a failed request is an error too.
func (x *exchange) call(conn *host.Conn, call protocol.Call) (protocol.Response, error) {
	ctx := x.r.Context()
	if call.Request.Spec().Mutates {
		ctx = x.s.ctx // it goes on when the script has gone
	}
	reply, err := x.s.call(ctx, conn, call)
	switch {
	case err != nil:
		return nil, errStopping()
	case reply.Err != nil:
		return nil, reply.Err
	}
	return reply.Data, nil
}

// fields returns the fields of a request from path, query and body, which may not say
// anything twice.
func (x *exchange) fields(row *row) (fields, error) {
	f := fields{}
	if row.body {
		if err := x.body(f); err != nil {
			return nil, err
		}
		var err error
		if row.content() {
			if x.plain, err = shorthand(f); err != nil {
				return nil, err
			}
		}
		if err = checkMembers(f, row); err != nil {
			return nil, err
		}
	}
	query := x.r.URL.Query()
	for name := range query {
		i := slices.IndexFunc(row.query, func(p param) bool { return p.name == name })
		if i < 0 {
			return nil, wrong(clipped(name), "There is no parameter %s here%s.", shown(name), names(row.query))
		}
		value := query.Get(name)
		switch {
		case len(query[name]) > 1:
			return nil, wrong(name, "The parameter %s is given %d times; give it once.", name, len(query[name]))
		case value == "":
			return nil, wrong(name, "The parameter %s is empty; leave it out, or give it a value.", name)
		case !utf8.ValidString(value):
			return nil, wrong(name, "The parameter %s is not valid UTF-8.", name)
		}
		switch p := row.query[i]; {
		case p.flag && value != "true" && value != "false":
			return nil, wrong(name, "The parameter %s is true or false, not %s.", name, shown(value))
		case p.number:
			if _, err := strconv.ParseInt(value, 10, 64); err != nil {
				return nil, wrong(name, "The parameter %s is a number, not %s.", name, shown(value))
			}
			fallthrough
		case p.flag:
			f[name] = json.RawMessage(value)
		default:
			f[name] = quoted(value)
		}
	}
	for name, value := range x.values {
		if !utf8.ValidString(value) {
			return nil, wrong(name, "The %s of the path is not valid UTF-8.", name)
		}
		f[name] = quoted(value)
	}
	return f, nil
}

func names(params []param) string {
	var all []string
	for _, p := range params {
		all = append(all, p.name)
	}
	if len(all) == 0 {
		return ""
	}
	return "; there are " + strings.Join(all, ", ")
}

// body reads a JSON object into f. An empty body is an empty object.
func (x *exchange) body(f fields) error {
	data, err := io.ReadAll(x.limited(protocol.MaxMessage))
	if err != nil {
		return err
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return nil
	}
	if p := protocol.CheckText("body", data); p != nil {
		return p.Err()
	}
	if err := json.Unmarshal(data, &f); err != nil || f == nil {
		return protocol.NotJSON(err, "body", data, &fields{})
	}
	if p := protocol.RepeatedMember(data); p != nil {
		return p.Err()
	}
	return nil
}

// limited returns the body of a request: at most so many bytes, none of which may take
// for ever.
func (x *exchange) limited(limit int64) io.Reader {
	return &bodyReader{body: http.MaxBytesReader(x.w, x.r.Body, limit), control: http.NewResponseController(x.w), limit: limit}
}

type bodyReader struct {
	body    io.Reader
	control *http.ResponseController
	limit   int64
}

// Read reads a part of the body.
func (b *bodyReader) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(bodyStall)) // a connection can always do this
	n, err := b.body.Read(p)
	_ = b.control.SetReadDeadline(time.Time{})
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return n, protocol.Errorf(protocol.CodePayloadTooLarge, "The body may have at most %d bytes.", b.limit)
	case err != nil && err != io.EOF:
		return n, invalid("The body was cut off.")
	}
	return n, err
}

// shorthand lets a plain text stand for a list with one block of text, and reports whether
// it did. Content of any other form than these two is an error.
func shorthand(f fields) (bool, error) {
	raw := f["content"]
	switch {
	case len(raw) == 0 || raw[0] == '[' || string(raw) == "null":
		return false, nil
	case raw[0] != '"':
		return false, wrong("content", "The field content is a text or a list of blocks.")
	}
	f["content"] = json.RawMessage(`[{"type":"text","text":` + string(raw) + `}]`)
	return true, nil
}

// checkMembers fails for a body with a field that the request does not know. What is in
// the path cannot be in the body too, and of the envelope of a message the body has the
// requestId, and the session where the path does not name it.
func checkMembers(f fields, row *row) error {
	req := protocol.SpecOf(row.request).New()
	var known []string
	for _, name := range protocol.MemberNames(req) {
		if !strings.Contains(row.path, "{"+name+"}") {
			known = append(known, name)
		}
	}
	if row.session {
		known = append(known, "sessionId")
	}
	return f.unknown(row.request, req, append(known, "requestId"))
}

// unknown fails for a field that the struct to which v points does not have, however deep.
func (f fields) unknown(what string, v any, known []string) error {
	data, err := json.Marshal(f)
	if err != nil {
		return invalid("The request cannot be read.") // its fields have been read as JSON
	}
	if p := protocol.UnknownMember(what, data, v, known); p != nil {
		e := p.Err()
		e.Message, e.Details = hideTokens(e.Message), []byte(hideTokens(string(e.Details)))
		return e
	}
	return nil
}

// clipped makes the name of a field that a client wrote fit for an answer.
func clipped(name string) string {
	return hideTokens(strings.ToValidUTF8(name[:min(len(name), protocol.MaxWord)], ""))
}

// requestID returns the id of a request and whether it may be a repetition: one that
// the script names may have been sent before.
func (x *exchange) requestID(f fields) (protocol.RequestID, bool, error) {
	var named protocol.RequestID
	if raw, ok := f["requestId"]; ok {
		if json.Unmarshal(raw, &named) != nil || named.Check() != nil {
			return "", false, wrong("requestId", "The field requestId is \"req_\" and 26 characters 0-9 and a-v.")
		}
	}
	keys := x.r.Header.Values(keyHeader)
	key := strings.Join(keys, "")
	switch {
	case len(keys) > 1:
		return "", false, wrong(keyHeader, "The header %s is given %d times; give it once.", keyHeader, len(keys))
	case len(keys) == 1 && key == "":
		return "", false, wrong(keyHeader, "The header %s is empty; leave it out, or give it a value.", keyHeader)
	case key != "" && named != "":
		return "", false, wrong(keyHeader, "Name the request once: by the header Idempotency-Key or by the field requestId.")
	case len(key) > maxKey:
		return "", false, wrong(keyHeader, "An Idempotency-Key has at most %d bytes.", maxKey)
	case key != "":
		x.keyed = true
		return keyID(key), true, nil
	case named != "":
		return named, true, nil
	}
	return protocol.NewRequestID(x.s.cfg.Rand), false, nil
}

// keyID returns the requestId that stands for an Idempotency-Key: itself, or one that
// derives from it.
func keyID(key string) protocol.RequestID {
	if id := protocol.RequestID(key); id.Check() == nil {
		return id
	}
	derived := protocol.ClientIDOf([]byte("idempotency key " + key)) // a hash in the alphabet of ids
	return protocol.RequestID("req_" + strings.TrimPrefix(string(derived), "cli_"))
}

// answer answers with JSON.
func (x *exchange) answer(status int, data any) {
	body, err := json.Marshal(data)
	if err != nil {
		x.fail(fmt.Errorf("the answer cannot be written: %w", err))
		return
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(status)
	_, _ = x.w.Write(append(body, '\n')) // the client has gone
	x.s.metrics.Reply(len(body))
}

// fail answers with an error.
func (x *exchange) fail(err error) {
	if errors.Is(err, context.Canceled) {
		return // the client has gone
	}
	e := x.asWritten(protocol.AsError(err))
	status := statusOf(e.Code)
	select {
	case <-x.s.stopping:
		if e.Code == protocol.CodeInternalError {
			status = http.StatusServiceUnavailable
		}
	default:
	}
	writeError(x.w, status, e)
}

// asWritten returns an error with its field named as the client wrote it, which may be
// another name than the request's.
func (x *exchange) asWritten(e *protocol.Error) *protocol.Error {
	var d protocol.FieldDetails
	if len(e.Details) == 0 || json.Unmarshal(e.Details, &d) != nil || d.Field == "" {
		return e
	}
	var field string
	text := e.Message
	switch inside, within := strings.CutPrefix(d.Field, "content[0]."); {
	case d.Field == "requestId" && x.keyed:
		field, text = keyHeader, strings.ReplaceAll(text, "requestId", keyHeader)
	case x.flat && strings.HasPrefix(d.Field, "meta."):
		field = strings.TrimPrefix(d.Field, "meta.")
		text = strings.ReplaceAll(text, d.Field, field)
	case within && inside != "" && x.plain:
		field, text = "content", strings.ReplaceAll(text, d.Field, "content")
	default:
		return e
	}
	return protocol.About(field, d.Reason, e.Code, "%s", text)
}

// wrong is [invalid] about a field, parameter or header.
func wrong(field, format string, args ...any) *protocol.Error {
	return protocol.About(field, "", protocol.CodeInvalidRequest, format, args...)
}

func invalid(format string, args ...any) *protocol.Error {
	return protocol.Errorf(protocol.CodeInvalidRequest, format, args...)
}
