package serve

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"scorel/protocol"
)

// row is one line of the table of HTTP: what a method and a path ask of the host.
type row struct {
	method string
	path   string // segments in braces are parameters, fields of the request
	// request is the name of the request on the wire. Rows that need more than one
	// request, or a stream, have a handler instead.
	request string
	query   []param // parameters after the question mark
	body    bool    // the body is an object with fields of the request
	session bool    // and names the session, where the request is about one
	handle  func(*Server, *exchange)
}

// param is a parameter of a query, a field of the request.
type param struct {
	name   string
	number bool
	flag   bool // true or false
}

// table is everything that HTTP offers behind the token: the requests that have a path of
// their own, what needs more than one of them, and all others by their names.
// docs/http.md says the same with examples.
func table() []row {
	rows := []row{
		{method: http.MethodPost, path: "/v1/sessions", handle: (*Server).createSession},
		{method: http.MethodGet, path: "/v1/sessions/{sessionId}", handle: (*Server).getSession},
		{method: http.MethodGet, path: "/v1/sessions/{sessionId}/events", handle: (*Server).events},
		{method: http.MethodGet, path: "/v1/events", handle: (*Server).events},
		{method: http.MethodPost, path: "/v1/requests/{request}", handle: (*Server).anyRequest},
		{method: http.MethodPost, path: "/v1/blobs", handle: (*Server).putBlob},
		{method: http.MethodGet, path: "/v1/blobs/{sha256}", handle: (*Server).getBlob},
		{method: http.MethodHead, path: "/v1/blobs/{sha256}", handle: (*Server).getBlob},
		{method: http.MethodGet, path: "/metrics", handle: (*Server).writeMetrics},
	}
	for _, spec := range protocol.Specs() {
		switch spec.Method {
		case "":
		case http.MethodGet:
			rows = append(rows, row{method: spec.Method, path: spec.Path, request: spec.Name, query: params(spec)})
		default:
			rows = append(rows, row{method: spec.Method, path: spec.Path, request: spec.Name, body: true})
		}
	}
	return rows
}

// content reports whether the request of the row has the content of a message.
func (r *row) content() bool {
	return slices.Contains(protocol.MemberNames(protocol.SpecOf(r.request).New()), "content")
}

// params returns the fields of a request that do not stand in its path.
func params(spec *protocol.Spec) (all []param) {
	t := reflect.TypeOf(spec.New()).Elem()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if strings.Contains(spec.Path, "{"+name+"}") {
			continue
		}
		kind := t.Field(i).Type.Kind()
		all = append(all, param{name: name, number: kind == reflect.Int || kind == reflect.Int64, flag: kind == reflect.Bool})
	}
	return all
}

// anyRequest answers POST /v1/requests/{request}.
func (s *Server) anyRequest(x *exchange) {
	name := x.values["request"]
	delete(x.values, "request")
	spec := protocol.SpecOf(name)
	switch {
	case spec == nil:
		writeError(x.w, http.StatusNotFound, wrong("request", "There is no request named %s; docs/http.md lists what there is.", shown(name)))
	case spec.Subscribes:
		x.fail(wrong("request", "%s is for a connection that stays; follow sessions with GET /v1/events?session=….", spec.Name))
	default:
		s.request(x, &row{path: "/v1/requests/" + spec.Name, request: spec.Name, body: true, session: spec.Scope != protocol.ScopeDevice})
	}
}

// find returns the row for a method and a path with the values of its parameters. When
// there are rows for the path only, it gives their methods.
func find(rows []row, method, path string) (found *row, values map[string]string, methods []string) {
	for i := range rows {
		v, ok := match(rows[i].path, path)
		if !ok {
			continue
		}
		if rows[i].method == method {
			return &rows[i], v, nil
		}
		methods = append(methods, rows[i].method)
	}
	slices.Sort(methods)
	return nil, nil, methods
}

// match compares a path with a pattern.
func match(pattern, path string) (map[string]string, bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, false
	}
	values := map[string]string{}
	for i, w := range want {
		name, ok := strings.CutPrefix(w, "{")
		switch {
		case ok && got[i] != "":
			values[strings.TrimSuffix(name, "}")] = got[i]
		case w != got[i]:
			return nil, false
		}
	}
	return values, true
}

// fields are the fields of a request, as they come.
type fields map[string]json.RawMessage

// call makes the call that a row and its fields mean, by the one parser of calls.
func (f fields) call(request string, id protocol.RequestID, repeat bool) (protocol.Call, error) {
	f["type"], f["requestId"], f["repeat"] = quoted(request), quoted(string(id)), json.RawMessage("false")
	if repeat {
		f["repeat"] = json.RawMessage("true")
	}
	data, err := json.Marshal(f)
	if err != nil {
		return protocol.Call{}, invalid("The request cannot be read.") // its fields have been read as JSON
	}
	return protocol.ParseCall(data)
}

func quoted(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil { // a string always can
		return json.RawMessage(`""`)
	}
	return data
}
