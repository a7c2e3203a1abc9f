package main

import "net/http"

// maxTail is how many events a stream can begin with, as in package serve.
const maxTail = 2000

// maxFollowed is how many sessions one stream can follow, as in package serve.
const maxFollowed = 64

// handRoutes returns what is no single request: a test of package serve holds them against
// its table.
func handRoutes(w schemas) []route {
	session := w.parameter("path", field{name: "sessionId", typ: ref("SessionID")}, nil)
	sha := w.parameter("path", field{name: "sha256", doc: "The SHA-256 of the payload.", typ: text, bound: bound{pattern: sha256Pattern}}, nil)
	inSession := w.parameter("query", field{name: "sessionId", doc: "A session that names the payload.", typ: ref("SessionID"), bound: bound{pattern: w.m.by["SessionID"].pattern}}, nil)
	following := func(first ...members) []members {
		return append(first,
			members{{"name", "tail"}, {"in", "query"}, {"description", "How many of the newest events come first."},
				{"schema", members{{"type", "integer"}, {"minimum", 0}, {"maximum", maxTail}, {"default", 0}}}},
			members{{"name", "types"}, {"in", "query"}, {"description", "persistent: only what stays in the log."},
				{"schema", members{{"type", "string"}, {"enum", []string{"all", "persistent"}}, {"default", "all"}}}},
			members{{"name", "interactive"}, {"in", "query"}, {"description", "Somebody follows who can answer questions. It counts only for messages with the option unattended."},
				{"schema", members{{"type", "boolean"}, {"default", false}}}},
			sharedParameter("LastEventID"))
	}
	stream := func(name string) members {
		return members{{okStatus, members{{"description", streamDoc}, {"content", members{{"text/event-stream", members{{"schema", w.typ(ref(name))}}}}}}}}
	}
	payload := func(status, about string, headers members) member {
		return member{status, members{{"description", about}, {"headers", headers},
			{"content", members{{"application/octet-stream", members{{"schema", members{}}}}}}}}
	}
	tag := members{{"ETag", members{{"schema", members{{"type", "string"}}}}}}
	part := append(tag, member{"Content-Range", members{{"schema", members{{"type", "string"}}}}})
	byRange := members{{"name", "Range"}, {"in", "header"}, {"description", "The bytes to give: bytes=0-99."}, {"schema", members{{"type", "string"}}}}
	plainText := func(about string) members {
		return members{{okStatus, members{{"description", about}, {"content", members{{"text/plain", members{{"schema", members{{"type", "string"}}}}}}}}}}
	}
	return []route{
		{method: http.MethodPost, path: "/v1/sessions", id: "create_session", tag: "sessions", summary: "Makes a session.",
			description: "Makes a session. A folder that is named becomes a known project first.\n\nIt needs the grant control.",
			parameters:  []members{sharedParameter("IdempotencyKey")}, body: w.typ(ref("NewSession")), needsBody: true,
			responses: members{{"201", append(answer("The session.", w.typ(ref("SessionSummary"))), member{"headers",
				members{{"Location", members{{"description", "The path of the session."}, {"schema", members{{"type", "string"}}}}}}})}}},
		{method: http.MethodGet, path: "/v1/sessions/{sessionId}", id: "get_session", tag: "sessions", summary: "Gives a session and what goes on in it.",
			parameters: []members{session}, responses: members{{okStatus, answer("The session.", w.typ(ref("SessionView")))}}},
		{method: http.MethodGet, path: "/v1/sessions/{sessionId}/events", id: "follow_session", tag: "events", summary: "Follows a session.",
			parameters: following(session), responses: stream("SessionMessage")},
		{method: http.MethodGet, path: "/v1/events", id: "follow", tag: "events", summary: "Follows several sessions and what goes on on the device.",
			parameters: following(members{{"name", "session"}, {"in", "query"}, {"description", "A session to follow, once for each. Without one only the device is followed."},
				{"schema", members{{"type", "array"}, {"maxItems", maxFollowed}, {"uniqueItems", true}, {"items", w.typ(ref("SessionID"))}}}, {"explode", true}}),
			responses: stream("StreamMessage")},
		{method: http.MethodPost, path: "/v1/blobs", id: "put_blob", tag: "blobs", summary: "Puts a payload.",
			description: "Puts a payload: the body as it is, up to 32 MiB. A block of a message names it by its SHA-256.\n\nIt needs the grant control.",
			body:        members{}, bodyType: "application/octet-stream", needsBody: true,
			responses: members{{"201", answer("The name of the payload.", w.typ(ref("BlobRef")))}}},
		{method: http.MethodGet, path: "/v1/blobs/{sha256}", id: "get_blob", tag: "blobs", summary: "Gives a payload that a session names.",
			parameters: []members{sha, inSession, byRange},
			responses: members{payload(okStatus, "The payload.", tag), payload("206", "The bytes that were asked for.", part),
				{"304", members{{"description", "The payload is the one of the ETag in If-None-Match."}}},
				{"416", members{{"description", "There are no such bytes."}, {"content", members{{"text/plain", members{{"schema", members{{"type", "string"}}}}}}}}}}},
		{method: http.MethodHead, path: "/v1/blobs/{sha256}", id: "head_blob", tag: "blobs", summary: "Says how long a payload is that a session names.",
			parameters: []members{sha, inSession}, responses: members{{okStatus, members{{"description", "The payload is there."}, {"headers", tag}}}}},
		{method: http.MethodGet, path: "/metrics", id: "metrics", tag: "host", summary: "Gives the metrics of the host.",
			responses: plainText("The text format of Prometheus.")},
		{method: http.MethodGet, path: "/healthz", id: "health", tag: "host", summary: "Says that the host runs.", open: true,
			responses: plainText("The word ok.")},
	}
}

const streamDoc = "Server-sent events. The schema is that of the JSON in the data of one of them; its event is the type that stands in there, and its id is what goes into Last-Event-ID. " +
	"resync begins and says what becomes of what the client holds, then come events, then live with the state of the session, and then events as they happen. Comments keep the connection alive."
