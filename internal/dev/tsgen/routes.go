package main

import (
	"net/http"
	"slices"
	"strings"
)

// requestRoutes returns the requests that have a path of their own.
func requestRoutes(w schemas, pairs []pair) (all []route) {
	for _, p := range pairs {
		if p.path == "" {
			continue
		}
		r := w.request(p)
		r.method, r.path, r.id, r.tag = p.method, p.path, p.name, tagOf(p.path)
		var rest []field
		fields := w.m.by[p.request].fields
		for _, f := range fields {
			switch {
			case strings.Contains(p.path, "{"+f.name+"}"):
				r.parameters = append(r.parameters, w.parameter("path", f, fields))
			case p.method == http.MethodGet:
				r.parameters = append(r.parameters, w.parameter("query", f, fields))
			default:
				rest = append(rest, f)
			}
		}
		if strings.Contains(p.path, "{sessionId}") {
			r.parameters = slices.Insert(r.parameters, 0, w.parameter("path", sessionOf(w.m, p), nil))
		}
		if p.method != http.MethodGet {
			r.setBody(w, rest)
		}
		all = append(all, r)
	}
	return all
}

// namedRoutes gives each request at the path of its name.
func namedRoutes(w schemas, pairs []pair) (all []route) {
	for _, p := range pairs {
		if p.subscribes {
			continue
		}
		r := w.request(p)
		r.method, r.path, r.id, r.tag = http.MethodPost, "/v1/requests/"+p.name, "request_"+p.name, "requests"
		fields := w.m.by[p.request].fields
		if p.scope != "ScopeDevice" {
			fields = append([]field{sessionOf(w.m, p)}, fields...)
		}
		r.setBody(w, fields)
		all = append(all, r)
	}
	return all
}

// request returns what the routes of a request have in common.
func (w schemas) request(p pair) route {
	d := w.m.by[p.request]
	r := route{description: w.m.plainDoc(verb(d), d.fields) + "\n\nIt needs the grant " + p.grant + "."}
	r.summary = sentenceOf(r.description)
	if p.mutates {
		r.parameters = []members{sharedParameter("IdempotencyKey")}
	}
	response := w.m.by[p.response]
	r.responses = members{{okStatus, answer(firstOf(w.m.plainDoc(response.doc, response.fields), "The answer."), w.typ(ref(p.response)))}}
	return r
}

// setBody sets the body to an object of fields.
func (r *route) setBody(w schemas, fields []field) {
	fields = slices.Clone(fields)
	for i, f := range fields {
		if f.typ == ref("SentContent") {
			fields[i].typ = union{text, f.typ}
			fields[i].doc = strings.TrimSpace("A text stands for one block of text. " + f.doc)
		}
		r.needsBody = r.needsBody || !f.optional
	}
	fields = append(fields, requestIDField(w.m))
	r.body = w.object(fields).with("additionalProperties", false)
}

func requestIDField(m *module) field {
	return field{name: "requestId", doc: "A name for this request, instead of the header Idempotency-Key.", typ: ref("RequestID"), optional: true,
		bound: bound{pattern: m.by["RequestID"].pattern}}
}

// tagOf returns the tag of a path.
func tagOf(path string) string {
	switch part := strings.Split(path, "/")[2]; part {
	case "sessions", "projects", "blobs", "events":
		return part
	}
	return "host"
}

// verb returns the comment of a request without its name in front.
func verb(d *decl) string {
	rest, ok := strings.CutPrefix(d.doc, d.name+" ")
	if !ok || rest == "" {
		return d.doc
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

// sentenceOf returns the first sentence of a text.
func sentenceOf(doc string) string {
	first, _, _ := strings.Cut(doc, "\n")
	for at := 0; ; {
		i := strings.Index(first[at:], ". ")
		if i < 0 {
			return first
		}
		if at += i; at+2 < len(first) && first[at+2] >= 'A' && first[at+2] <= 'Z' {
			return first[:at+1]
		}
		at += 2
	}
}

// firstOf returns the first sentence of a text, or what stands for an empty one.
func firstOf(doc, empty string) string {
	if doc == "" {
		return empty
	}
	return sentenceOf(doc)
}

// httpTypes declares what only HTTP has.
func httpTypes(c *module) []*decl {
	name := func(name, doc string, typ typ, most int) field {
		return field{name: name, doc: doc, typ: orNull(typ), optional: true, bound: bound{maxLength: most}}
	}
	session := name("sessionId", "The id of the new session. Leave it out, and the host draws one.", ref("SessionID"), 0)
	session.bound.pattern = c.by["SessionID"].pattern
	title := name("name", "What it is called.", text, c.sizes["MaxName"])
	title.bound.line = true
	return []*decl{
		{name: "NewSession", doc: "A session to make. It needs workDir or projectId, and not both.", fields: []field{
			name("workDir", "The folder that it works in, by its whole path.", text, c.sizes["MaxPath"]),
			name("projectId", "The project that it works in.", ref("ProjectID"), c.sizes["MaxWord"]),
			title,
			name("model", "The model, by reference or alias.", text, c.sizes["MaxModelRef"]),
			name("thinkingLevel", "How much the model thinks.", text, c.sizes["MaxWord"]),
			session, requestIDField(c)}},
		{name: "SessionView", doc: "A session with what goes on in it.", extends: []string{"SessionOpened"}, fields: []field{required("live", ref("Live"))}},
		{kind: alias, name: "SessionMessage", doc: "The data of a message of the stream of a session: an event of it, or a frame.",
			is: union{ref("SessionEvent"), ref("ResyncFrame"), ref("LiveFrame"), ref("SessionClosed"), ref("HostStopping")}},
		{kind: alias, name: "StreamMessage", doc: "The data of a message of the stream of several sessions and the device: an event or a frame.",
			is: union{ref("SessionEvent"), ref("ResyncFrame"), ref("LiveFrame"), ref("SessionClosed"), ref("HostStopping"),
				ref("SessionChanged"), ref("ProjectsChanged"), ref("AutomationChanged"), ref("MCPChanged"), ref("ClientJoined"), ref("ClientLeft")}},
	}
}
