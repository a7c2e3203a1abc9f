package main

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// openapiJSON writes what HTTP offers as OpenAPI 3.1.
func openapiJSON(c *module) ([]byte, error) {
	m := &module{decls: slices.Clone(c.decls), by: map[string]*decl{}, sizes: c.sizes, words: c.words}
	for _, d := range c.decls {
		m.by[d.name] = d
	}
	for _, d := range httpTypes(c) {
		if err := m.add(d); err != nil {
			return nil, err
		}
	}
	if err := m.complete(); err != nil {
		return nil, err
	}
	w := schemas{m: m, prefix: "#/components/schemas/", tagged: true, used: map[string]bool{}}
	w.typ(ref("ProtocolError")) // all errors
	all := slices.Concat(handRoutes(w), requestRoutes(w, c.pairs), namedRoutes(w, c.pairs))
	slices.SortStableFunc(all, func(a, b route) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.method, b.method))
	})
	var paths members
	for _, r := range all {
		if n := len(paths); n == 0 || paths[n-1].key != r.path {
			paths = paths.with(r.path, members{})
		}
		at := &paths[len(paths)-1]
		at.value = at.value.(members).with(strings.ToLower(r.method), r.operation())
	}
	return document(members{
		{"openapi", "3.1.0"},
		{"x-comment", mark + " from the Go package protocol. DO NOT EDIT."},
		{"info", members{
			{"title", "Scorel host"}, {"version", strconv.Itoa(c.sizes["Version"])}, {"description", openapiDoc},
			{"license", members{{"name", "MIT"}, {"identifier", "MIT"}}},
		}},
		{"servers", []members{
			{{"url", "http://localhost"}, {"description", "The socket ~/.scorel/host.sock: curl --unix-socket."}},
			{{"url", "{scheme}://{address}"}, {"description", "An address that the host listens on."}, {"variables", members{
				{"scheme", members{{"enum", []string{"http", "https"}}, {"default", "http"}, {"description", "http on the machine of the host, https from others."}}},
				{"address", members{{"default", "127.0.0.1:4444"}}},
			}}},
		}},
		{"security", []members{{{"token", []string{}}}}},
		{"tags", tags()},
		{"paths", paths},
		{"components", members{{"schemas", w.components()}, {"responses", errorResponses()},
			{"parameters", sharedParameters()},
			{"securitySchemes", members{{"token", members{{"type", "http"}, {"scheme", "bearer"},
				{"description", "The host's token. ~/.scorel/host.header holds the whole header."}}}}}}},
	})
}

const openapiDoc = "What a running host answers over HTTP. docs/http.md says the same with examples.\n\n" +
	"Bodies are JSON objects; a field that a request does not have is an error. A field that may be left out may also be null. " +
	"Lengths are in bytes of UTF-8, which a schema cannot say: a text of other characters than ASCII may be refused below its maxLength. " +
	"A body has at most 1 MiB, a payload 32 MiB, and a request line with its headers 16 KiB: more is answered with 431 and a line of plain text.\n\n" +
	"Every request of the protocol can be sent to /v1/requests/{its name}, with the session in the body; some have a path of their own beside that. " +
	"open_session and close_session belong to a WebSocket connection, at /v1/ws, whose messages schema.json describes.\n\n" +
	"Answers may have further fields when the host is newer than this document."

// route is a method of a path.
type route struct {
	method, path, id, tag string
	summary, description  string
	parameters            []members
	body                  members // "" for none
	needsBody             bool
	bodyType              string  // empty: JSON
	responses             members // without the errors
	open                  bool    // needs no token
}

const jsonType = "application/json"

// operation writes the route.
func (r route) operation() members {
	o := members{{"operationId", r.id}, {"tags", []string{r.tag}}, {"summary", r.summary}}.and("description", r.description)
	if r.open {
		o = o.with("security", []members{})
	}
	if len(r.parameters) > 0 {
		o = o.with("parameters", r.parameters)
	}
	if r.body != nil {
		o = o.with("requestBody", members{{"required", r.needsBody}, {"content", members{{cmp.Or(r.bodyType, jsonType), members{{"schema", r.body}}}}}})
	}
	responses := slices.Clone(r.responses)
	if !r.open {
		responses = responses.with("401", members{{"$ref", "#/components/responses/Unauthorized"}}).
			with("default", members{{"$ref", "#/components/responses/Error"}})
	}
	return o.with("responses", responses)
}

// answer writes a response of JSON.
func answer(about string, schema members) members {
	return members{{"description", about}, {"content", members{{jsonType, members{{"schema", schema}}}}}}
}

func tags() []members {
	var all []members
	for _, t := range [][2]string{
		{"sessions", "Sessions and their conversations."}, {"events", "What happens, as server-sent events."}, {"blobs", "Payloads: images, files, long texts."},
		{"projects", "The folders that sessions work in."}, {"host", "The host itself."}, {"requests", "Every request by its name."},
	} {
		all = append(all, members{{"name", t[0]}, {"description", t[1]}})
	}
	return all
}

// errorResponses are the answers that every operation may have.
func errorResponses() members {
	body := members{{"$ref", "#/components/schemas/ProtocolError"}}
	return members{
		{"Error", answer("It failed: 400 the request, 403 not allowed, 404 not there, 405 the method, 409 a conflict, a running turn or a session in use elsewhere, 413 too large, 429 too much at once, 500, 502 and 503 the host. "+
			"Where a field, a parameter or a header is what is wrong, details.field names it.", body)},
		{"Unauthorized", append(answer("The token lacks or is wrong.", body), member{"headers",
			members{{"WWW-Authenticate", members{{"schema", members{{"type", "string"}, {"const", "Bearer"}}}}}}})},
	}
}

func sharedParameters() members {
	return members{
		{"IdempotencyKey", members{{"name", "Idempotency-Key"}, {"in", "header"},
			{"description", "A name of your own for this request: a second one of that name does not act again and has the same answer, also after the host has been restarted. With another body it is refused. Give either it or requestId."},
			{"schema", members{{"type", "string"}, {"minLength", 1}, {"maxLength", 256}}}}},
		{"LastEventID", members{{"name", "Last-Event-ID"}, {"in", "header"},
			{"description", "The id of the newest event that has come: the stream goes on there."}, {"schema", members{{"type", "string"}}}}},
	}
}

// sharedParameter refers to one of those.
func sharedParameter(name string) members {
	return members{{"$ref", "#/components/parameters/" + name}}
}

// parameter writes a parameter of a path or a query, which is one of these fields.
func (w schemas) parameter(in string, f field, fields []field) members {
	f.typ = notNull(f.typ)
	p := members{{"name", f.name}, {"in", in}}
	if in == "path" || !f.optional {
		p = p.with("required", true)
	}
	about := w.m.plainDoc(f.doc, fields)
	f.doc = ""
	return p.and("description", about).with("schema", w.field(f, nil))
}

// components writes what has been used, and what that uses.
func (w schemas) components() members {
	written := map[string]members{}
	for len(written) < len(w.used) {
		for _, d := range w.m.decls {
			if w.used[d.name] && written[d.name] == nil {
				written[d.name] = w.decl(d)
			}
		}
	}
	var all members
	for _, d := range w.m.sorted() {
		if s := written[d.name]; s != nil {
			all = all.with(d.name, s)
		}
	}
	return all
}

// okStatus is the status of most answers.
var okStatus = strconv.Itoa(http.StatusOK)
