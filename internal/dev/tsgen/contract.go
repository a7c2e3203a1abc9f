package main

import (
	"maps"
	"slices"
)

// contract returns the model as strangers need it: without what is made for TypeScript,
// with the requests as the host judges them, the messages that carry them, and nothing
// that never goes over the wire.
func contract(m *module) (*module, error) {
	c := &module{by: map[string]*decl{}, pairs: m.pairs, limits: m.limits, sizes: m.sizes, words: m.words, events: m.events, display: m.display}
	requests := map[string]bool{}
	for _, p := range m.pairs {
		requests[p.request] = true
	}
	w := sending{m, m.received()}
	inner := w.within(requests)
	for _, d := range slices.Concat(m.decls, sentBlocks(m)) {
		switch {
		case requests[d.name]:
			d = w.request(d)
		case inner[d.name] && !w.received[d.name]:
			d = w.object(d)
		case m.by[d.name] != nil:
			d = unbounded(d)
		}
		if err := c.add(d); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		if w.received[name] {
			if err := c.add(w.object(m.by[name])); err != nil {
				return nil, err
			}
		}
	}
	if err := envelopes(c); err != nil {
		return nil, err
	}
	if err := c.complete(); err != nil {
		return nil, err
	}
	c.prune("ClientMessage", "HostMessage", "FieldDetails", "Answers", "PlanAnswer")
	return c, nil
}

// sentBlocks declares the content that a client sends, from [protocol.CheckContent].
func sentBlocks(m *module) []*decl {
	blob := field{name: "blob", typ: text, bound: bound{pattern: sha256Pattern}}
	media := field{name: "mediaType", typ: text, bound: bound{need: true, maxLength: m.sizes["MaxName"]}}
	optionalBlob := blob
	optionalBlob.optional = true
	all := []*decl{
		{name: "SentTextBlock", doc: "A text. With a blob it is the beginning of that payload.",
			fields: []field{required("type", lit("text")), optional("text", text), optionalBlob}},
		{name: "SentImageBlock", doc: "An image. Its payload was put before.", fields: []field{required("type", lit("image")), media, blob}},
		{name: "SentFileBlock", doc: "A file. Its payload was put before.", fields: []field{required("type", lit("file")),
			{name: "name", typ: text, bound: bound{need: true, maxLength: m.sizes["MaxName"]}}, media, blob}},
		{kind: alias, name: "SentBlock", doc: "One piece of what a client sends. A blob is the lower-case hex SHA-256 of a payload that was put with put_blob.",
			is: union{ref("SentTextBlock"), ref("SentImageBlock"), ref("SentFileBlock")}},
		{kind: alias, name: "SentContent", doc: "What a client sends as a message. At least one block is not an empty text.",
			is: list{ref("SentBlock")}, bound: bound{minItems: 1, maxItems: m.sizes["MaxBlocks"]}},
	}
	for _, d := range all {
		d.file = "message"
	}
	return all
}

// sha256Pattern is the form of the name of a payload, as [protocol.IsPayload] reads it.
const sha256Pattern = "^[0-9a-f]{64}$"

// envelopes declares the messages of a connection, from [protocol.Call] and
// [protocol.Reply].
func envelopes(c *module) error {
	requestID := field{name: "requestId", doc: "It is drawn by the client.", typ: ref("RequestID"), bound: bound{pattern: c.by["RequestID"].pattern}}
	client, host := union{ref("HelloMessage"), ref("ProveMessage")}, union{ref("ErrorMessage"), ref("ChallengeMessage"), ref("ConnectedMessage"), ref("Frame")}
	all := []*decl{{name: "ErrorMessage", doc: "The answer to a request that failed. In the handshake its requestId is empty. Details of an error about a field of the request are FieldDetails.",
		extends: []string{"ProtocolError"}, fields: []field{required("type", lit("error")), required("requestId", text)}}}
	for _, p := range c.pairs {
		call := &decl{name: "call." + p.name, doc: "The request " + p.name + " on its way.", extends: []string{p.request},
			fields: []field{required("type", lit(p.name)), requestID, sessionOf(c, p),
				{name: "repeat", doc: "It marks a request whose answer was lost.", typ: boolean, optional: true}}}
		reply := &decl{name: "reply." + p.name, doc: "The answer to " + p.name + ".",
			fields: []field{required("type", lit("response")), required("requestId", ref("RequestID")), required("data", ref(p.response))}}
		client = append(client, ref(call.name))
		all = append(all, call, reply)
	}
	all = append(all,
		&decl{name: "ResponseMessage", doc: "The answer to a request that succeeded. reply.<name of the request> is the whole message with the data of that request.",
			fields: []field{required("type", lit("response")), required("requestId", ref("RequestID")), required("data", unknown)}},
		&decl{kind: alias, name: "ClientMessage", doc: "What a client sends: the handshake, and then requests.", is: client},
		&decl{kind: alias, name: "HostMessage", doc: "What a host sends: the handshake, and then answers and frames.", is: append(host, ref("ResponseMessage"))})
	for _, p := range c.pairs {
		c.roots = append(c.roots, p.response, "reply."+p.name)
	}
	for _, d := range all {
		d.file = "calls"
		if err := c.add(d); err != nil {
			return err
		}
	}
	return nil
}

// sessionOf is the field of a call that names the session.
func sessionOf(c *module, p pair) field {
	doc := map[string]string{
		"ScopeDevice":  "It does not count: the request is about the device.",
		"ScopeSession": "The session that the request is about.",
		"ScopeNew":     "The id of the new session, which the client draws.",
		"ScopeEither":  "The session that the request is about; without one it is about a folder or the device.",
	}[p.scope]
	return field{name: "sessionId", doc: doc, typ: ref("SessionID"), optional: p.scope != "ScopeSession" && p.scope != "ScopeNew",
		bound: bound{pattern: c.by["SessionID"].pattern}}
}

// prune leaves what the named declarations and the roots need.
func (m *module) prune(names ...string) {
	kept := map[string]bool{}
	var keep func(name string)
	keep = func(name string) {
		if !kept[name] {
			kept[name] = true
			m.uses(m.by[name], keep)
		}
	}
	for _, name := range slices.Concat(names, m.roots) {
		keep(name)
	}
	m.decls = slices.DeleteFunc(m.decls, func(d *decl) bool { return !kept[d.name] })
	maps.DeleteFunc(m.by, func(name string, _ *decl) bool { return !kept[name] })
}
