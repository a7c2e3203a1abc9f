package main

import (
	"fmt"
	"slices"
	"strings"
)

func (w manual) readme() {
	w.line("# The protocol, field by field")
	w.paragraph("How clients and a host talk is told in [protocol.md](../protocol.md), and over HTTP in [http.md](../http.md). Here is the reference. All of it is generated from the Go package `protocol` (`make generate`), and CI holds it against that.")
	w.line("\n| | |\n|---|---|")
	for _, row := range [][2]string{
		{"[requests.md](" + requestsPage + ")", fmt.Sprintf("the %d requests with their fields and answers", len(w.m.pairs))},
		{"[events.md](" + eventsPage + ")", "the events of a session"},
		{"[frames.md](" + framesPage + ")", "the messages of a connection: handshake, calls and answers, frames, errors"},
		{"[types.md](" + typesPage + ")", "the types that these use"},
		{"[schema.json](schema.json)", "the same as JSON Schema (2020-12): every message of a connection"},
		{"[openapi.json](openapi.json)", "what HTTP offers as OpenAPI 3.1, for generators of clients"},
	} {
		w.line("| %s | %s |", row[0], row[1])
	}
	w.paragraph("Numbers and names that clients need:")
	w.line("\n| name | value | |\n|---|---|---|")
	for _, l := range w.m.limits {
		w.line("| `%s` | `%#v` | %s |", l.name, l.value, l.doc)
	}
}

func (w manual) requests() {
	w.line("# Requests")
	w.paragraph("A field that is not marked as required may be left out or be null, which is the same. A field that is required must be there; null is a value of it only where its type says so. Lengths are in bytes of UTF-8. What carries a request is in [frames.md](" + framesPage + "#calls).")
	w.paragraph("One that *mutates* acts once however often it is sent with the same `requestId`. All others are simply sent again.")
	w.paragraph("Scope: one of a `session` needs a `sessionId`; so does one of a `new` session, whose id the client generates; `either` is about a session, or about the device or a project without a `sessionId`; the `device` ignores it.")
	w.line("\n| request | | scope | grant | mutates | HTTP |\n|---|---|---|---|---|---|")
	for _, p := range w.m.pairs {
		d := w.m.by[p.request]
		path := ""
		if p.path != "" {
			path = "`" + p.method + " " + p.path + "`"
		}
		w.line("| %s | %s | %s | %s | %s | %s |", w.link(p.request), oneCell(sentenceOf(w.doc(verb(d), d.fields))), strings.ToLower(strings.TrimPrefix(p.scope, "Scope")), p.grant, map[bool]string{true: "yes"}[p.mutates], path)
	}
	for _, p := range w.m.pairs {
		w.request(p)
	}
}

func oneCell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// request writes one request.
func (w manual) request(p pair) {
	d := w.m.by[p.request]
	w.line("\n## %s", p.name)
	w.paragraph(w.doc(verb(d), d.fields))
	w.line("\n- About: %s", map[string]string{"ScopeDevice": "the device.", "ScopeSession": "a session, named by `sessionId`.",
		"ScopeNew": "a new session, whose id the client draws and names by `sessionId`.", "ScopeEither": "a session, named by `sessionId`, or a folder or the device without one."}[p.scope])
	w.line("- Grant: `%s`. %s", p.grant, map[bool]string{true: "It mutates.", false: "It does not mutate."}[p.mutates])
	var paths []string
	if p.path != "" {
		paths = append(paths, "`"+p.method+" "+p.path+"`")
	}
	if p.subscribes {
		paths = append(paths, "none of its own; [streams of events](../http.md#events) stand for it")
	} else {
		paths = append(paths, "`POST /v1/requests/"+p.name+"`")
	}
	w.line("- HTTP: %s.", strings.Join(paths, ", "))
	if len(p.aliases) > 0 {
		w.line("- Older names, which are still read: `%s`.", strings.Join(p.aliases, "`, `"))
	}
	w.line("- Answer: %s.", w.link(p.response))
	w.table(d.fields)
}

func (w manual) events() {
	w.line("# Events")
	w.paragraph("Every event is a JSON object with its type, the fields of its class and its own. Ignore fields and types that you do not know: one without `id` is transient, one with `control: true` a control event, any other a conversation event.")
	for _, base := range []string{"EventBase", "PersistentBase", "ControlBase", "TransientBase"} {
		d := w.m.by[base]
		w.line("\n## %s", base)
		w.paragraph(w.doc(d.doc, d.fields))
		if len(d.extends) > 0 {
			w.paragraph("It has the fields of " + w.link(d.extends[0]) + ", and:")
		}
		w.table(d.fields)
	}
	w.choice("SessionEvent")
	w.choice("PersistentEvent")
	w.line("\n## Display")
	w.paragraph("What a client shows of an event is an item; below each event says how it is made. The same is a table in `web/src/protocol/eventspec.ts`.")
	w.paragraph(w.doc(w.m.display.doc, w.m.display.fields))
	w.line("\n| member | |\n|---|---|")
	for _, f := range w.m.display.fields {
		w.line("| `%s` | %s |", f.name, oneCell(w.doc(f.doc, w.m.display.fields)))
	}
	for _, group := range []string{"ConversationEvent", "ControlEvent", "TransientEvent"} {
		w.choice(group)
		for _, u := range w.m.by[group].is.(union) {
			d := w.m.by[string(u.(ref))]
			body := w.m.by[d.extends[1]]
			w.line("\n### %s", d.tag())
			w.paragraph(w.doc(body.doc, w.m.all(body)))
			w.paragraph("It has the fields of " + w.link(d.extends[0]) + more(w.m.all(body)))
			w.table(w.m.all(body))
			w.shown(d.tag())
		}
	}
}

// shown returns how an event is shown, where a search finds it, and what it counts.
func (w manual) shown(name string) {
	i := slices.IndexFunc(w.m.events, func(e eventSpec) bool { return e.name == name })
	e := &w.m.events[i]
	d := e.display
	switch {
	case d.kind == "hidden":
		w.paragraph("It is not shown.")
	case d.view != "":
		w.paragraph("It is shown by the view `" + d.view + "`" + placed(d.place) + ".")
	default:
		w.paragraph("It is shown as `" + d.kind + "`" + placed(d.place) + ":")
		w.line("")
		for _, l := range d.literals() {
			if key, value, _ := strings.Cut(l, ": "); key != "kind" && key != "place" {
				w.line("- %s: `%s`", key, value)
			}
		}
	}
	if e.class == "Transient" {
		return
	}
	var about []string
	switch search := e.aspects["Search"]; search {
	case none:
		about = append(about, "A search does not look into it.")
	case coded:
		about = append(about, "A search finds it by what is said in it.")
	default:
		about = append(about, "A search finds it by `"+strings.Join(strings.Fields(search), "`, `")+"`.")
	}
	if usage := e.aspects["Usage"]; usage != none {
		about = append(about, "Its `"+usage+"` counts as `"+e.usageKind+"`.")
	}
	if e.aspects["Context"] == none {
		about = append(about, "No model is sent anything of it.")
	}
	w.paragraph(strings.Join(about, " "))
}

func placed(place string) string {
	return map[string]string{"": "", "call": ", with the call", "session": ", with the details of the session"}[place]
}

func more(fields []field) string {
	if len(fields) == 0 {
		return "."
	}
	return ", and:"
}

// choice writes a union of declarations.
func (w manual) choice(name string) {
	d := w.m.by[name]
	w.line("\n## %s", name)
	w.paragraph(w.doc(d.doc, nil))
	w.paragraph("One of " + w.typ(d.is) + ".")
}

func (w manual) frames() {
	w.line("# Messages of a connection")
	w.paragraph("Each text message of a WebSocket connection is one JSON object with a `type`. First comes the handshake, then the client sends calls, and the host answers and sends frames.")
	w.line("\n## Handshake")
	w.paragraph("In this order; the client's are `hello` and `connect`. A refusal is an " + w.link("ErrorMessage") + ".")
	for _, h := range handshake() {
		w.message(h.name + "Message")
	}
	w.line("\n## Calls")
	w.paragraph("A call is the fields of a [request](" + requestsPage + ") and, beside them:")
	w.table([]field{{name: "type", doc: "The name of the request.", typ: text},
		{name: "requestId", doc: "It is drawn by the client: another for each request, and the same when one is sent again.", typ: ref("RequestID"), bound: bound{pattern: w.m.by["RequestID"].pattern}},
		{name: "sessionId", doc: "The session that the request is about, where it is about one.", typ: ref("SessionID"), optional: true, bound: bound{pattern: w.m.by["SessionID"].pattern}},
		{name: "repeat", doc: "It marks a request whose answer was lost.", typ: boolean, optional: true}})
	w.message("ResponseMessage")
	w.message("ErrorMessage")
	w.line("\n## Frame")
	w.paragraph(w.doc(w.m.by["Frame"].doc, nil) + " Ignore those of a type that you do not know.")
	for _, u := range w.m.by["Frame"].is.(union) {
		w.message(string(u.(ref)))
	}
	for _, name := range []string{"ClientMessage", "HostMessage"} {
		w.line("\n## %s", name)
		w.paragraph(w.doc(w.m.by[name].doc, nil))
	}
}

// message writes a message of a connection with all its fields.
func (w manual) message(name string) {
	d := w.m.by[name]
	about, fields := d, w.m.all(d)
	if len(d.extends) > 0 && strings.HasSuffix(name, "Message") && d.file == "connect" {
		about = w.m.by[d.extends[0]]
	}
	w.line("\n### %s", headOf(d))
	w.paragraph(w.doc(about.doc, fields))
	w.table(fields)
}

func (w manual) types() {
	w.line("# Types")
	w.paragraph("What begins with Sent has this form only in requests. Fields that are not marked as required may be left out. A newer host may send further fields, and further words of a closed set.")
	for _, d := range w.m.sorted() {
		if at, ok := w.places[d.name]; !ok || at.page != typesPage {
			continue
		}
		w.line("\n## %s", d.name)
		fields := w.m.all(d)
		w.paragraph(w.doc(d.doc, fields))
		switch d.kind {
		case object:
			w.table(fields)
		case alias:
			w.paragraph(strings.TrimSpace("JSON: " + w.typ(d.is) + ". " + w.bounds(d.bound)))
		case brand:
			w.paragraph("JSON: text.")
		case enum:
			w.words(d)
		}
	}
}

// words writes a closed set of words.
func (w manual) words(d *decl) {
	if !slices.ContainsFunc(d.values, func(v goConst) bool { return v.doc != "" }) {
		var all []string
		for _, v := range d.values {
			all = append(all, "`"+v.value+"`")
		}
		w.paragraph("One of " + strings.Join(all, ", ") + ".")
		return
	}
	w.line("\n| word | |\n|---|---|")
	for _, v := range d.values {
		w.line("| `%s` | %s |", v.value, strings.ReplaceAll(oneCell(w.doc(v.doc, nil)), "\n", "<br>"))
	}
}
