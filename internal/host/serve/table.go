package serve

import (
	"encoding/json"
	"net/http"
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
	query   []param // parameters behind the question mark
	body    bool    // the body is an object with fields of the request
	handle  func(*Server, *exchange)
}

// param is a parameter of a query, a field of the request.
type param struct {
	name   string
	number bool
	flag   bool // true or false
}

// table is everything that HTTP offers behind the token; docs/http.md says the same
// with examples.
func table() []row {
	return []row{
		{method: http.MethodGet, path: "/v1/status", request: "get_status"},
		{method: http.MethodGet, path: "/v1/projects", request: "list_projects"},
		{method: http.MethodPost, path: "/v1/projects", request: "register_project", body: true},
		{method: http.MethodGet, path: "/v1/sessions", request: "list_sessions",
			query: []param{{name: "projectId"}, {name: "query"}, {name: "limit", number: true}, {name: "before"}, {name: "beforeTime", number: true},
				{name: "subagents", flag: true}, {name: "parentId"}}},
		{method: http.MethodPost, path: "/v1/sessions", handle: (*Server).createSession},
		{method: http.MethodGet, path: "/v1/sessions/{sessionId}", handle: (*Server).getSession},
		{method: http.MethodGet, path: "/v1/sessions/{sessionId}/events", handle: (*Server).events},
		{method: http.MethodPost, path: "/v1/sessions/{sessionId}/messages", request: "send_message", body: true},
		{method: http.MethodPost, path: "/v1/sessions/{sessionId}/steer", request: "steer", body: true},
		{method: http.MethodPost, path: "/v1/sessions/{sessionId}/cancel", request: "cancel", body: true},
		{method: http.MethodPost, path: "/v1/sessions/{sessionId}/rewind", request: "rewind", body: true},
		{method: http.MethodPost, path: "/v1/sessions/{sessionId}/branch", request: "branch", body: true},
		{method: http.MethodPost, path: "/v1/sessions/{sessionId}/compact", request: "compact", body: true},
		{method: http.MethodPost, path: "/v1/sessions/{sessionId}/permissions/{permissionId}", request: "answer_permission", body: true},
		{method: http.MethodGet, path: "/v1/sessions/{sessionId}/processes/{operationId}", request: "get_process_log",
			query: []param{{name: "offset", number: true}, {name: "limit", number: true}}},
		{method: http.MethodPost, path: "/v1/blobs", handle: (*Server).putBlob},
		{method: http.MethodGet, path: "/v1/blobs/{sha256}", handle: (*Server).getBlob},
		{method: http.MethodHead, path: "/v1/blobs/{sha256}", handle: (*Server).getBlob},
		{method: http.MethodGet, path: "/metrics", handle: (*Server).writeMetrics},
	}
}

// find gives the row for a method and a path with the values of its parameters. When
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
