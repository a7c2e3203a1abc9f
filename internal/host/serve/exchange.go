package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

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

// fields gives the fields of a request from path, query and body, which may not say
// anything twice.
func (x *exchange) fields(row *row) (fields, error) {
	f := fields{}
	if row.body {
		if err := x.body(f); err != nil {
			return nil, err
		}
		x.plain = shorthand(f)
		if err := check(f, row); err != nil {
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
			return nil, wrong(name, "The parameter %s stands there %d times; give it once.", name, len(query[name]))
		case value == "":
			return nil, wrong(name, "The parameter %s is empty; leave it out, or give it a value.", name)
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
	if err := json.Unmarshal(data, &f); err != nil {
		return protocol.NotJSON(err, "body", data, &fields{})
	}
	return nil
}

// limited gives the body of a request: at most so many bytes, none of which may take
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
		return n, invalid("The body broke off.")
	}
	return n, err
}

// shorthand lets a plain text stand for a list with one block of text.
func shorthand(f fields) bool {
	var text string
	if raw, ok := f["content"]; ok && json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		f["content"] = json.RawMessage(`[{"type":"text","text":` + string(raw) + `}]`)
		return true
	}
	return false
}

// check fails for a body that says something that the request does not know. What
// stands in the path cannot be said again.
func check(f fields, row *row) error {
	known := fieldsOf(row.request)
	if row.session {
		known = append([]string{"sessionId"}, known...)
	}
	for name := range f {
		if name != "requestId" && (!slices.Contains(known, name) || strings.Contains(row.path, "{"+name+"}")) {
			return unknownField("", name, known)
		}
	}
	return within("", f, reflect.TypeOf(protocol.SpecOf(row.request).New()).Elem())
}

// within is check of the objects in a body, however deep.
func within(at string, f fields, t reflect.Type) error {
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if raw, ok := f[name]; ok {
			if err := object(at+name, raw, t.Field(i).Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// object looks for fields that there are not in one value. What has another form than it
// should is left to the parser.
func object(at string, raw json.RawMessage, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		var all []json.RawMessage
		if json.Unmarshal(raw, &all) != nil {
			return nil
		}
		for i, one := range all {
			if err := object(fmt.Sprintf("%s[%d]", at, i), one, t.Elem()); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Struct:
		f := fields{}
		if json.Unmarshal(raw, &f) != nil {
			return nil
		}
		known := fieldNames(reflect.New(t).Interface())
		if own, ok := reflect.Zero(t).Interface().(interface{ JSONFields() []string }); ok {
			known = own.JSONFields()
		}
		for _, name := range slices.Sorted(maps.Keys(f)) {
			if !slices.Contains(known, name) {
				return unknownField(at+".", name, known)
			}
		}
		return within(at+".", f, t)
	}
	return nil
}

// unknownField says that an object of a body has a field that there is not.
func unknownField(at, name string, known []string) *protocol.Error {
	where := "here"
	if at != "" {
		where = "in " + strings.TrimSuffix(at, ".")
	}
	return wrong(at+clipped(name), "There is no field %s %s; there are %s.", shown(name), where, strings.Join(known, ", "))
}

// clipped makes the name of a field that a client wrote fit for an answer.
func clipped(name string) string {
	return hideTokens(strings.ToValidUTF8(name[:min(len(name), protocol.MaxWord)], ""))
}

// fieldsOf gives the names of the fields of a request.
func fieldsOf(request string) []string { return fieldNames(protocol.SpecOf(request).New()) }

// fieldNames gives the names that the fields of a struct have in JSON.
func fieldNames(v any) (all []string) {
	t := reflect.TypeOf(v).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}

// requestID gives the id of a request and whether it may be a repetition: one that
// the script names may have been sent before.
func (x *exchange) requestID(f fields) (protocol.RequestID, bool, error) {
	var named protocol.RequestID
	if raw, ok := f["requestId"]; ok {
		if json.Unmarshal(raw, &named) != nil || named.Check() != nil {
			return "", false, wrong("requestId", "The field requestId is \"req_\" and 26 characters 0-9 and a-v.")
		}
	}
	key := x.r.Header.Get(keyHeader)
	switch {
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

// keyID gives the requestId that stands for an Idempotency-Key: itself, or one that
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

// asWritten gives an error with its field named as the client wrote it, which may be
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
