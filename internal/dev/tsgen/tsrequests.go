package main

import (
	"fmt"
	"slices"
	"strings"
)

// tsRequests declares the map of requests, calls and replies, and what they need,
// from [protocol.Call], [protocol.Reply] and [protocol.Spec].
func tsRequests(m *module) error {
	var pairs, needs, acts strings.Builder
	uses := []string{"SessionID", "RequestID", "Code", "Grant"}
	for _, p := range m.pairs {
		fmt.Fprintf(&pairs, "  %s: { request: %s; response: %s };\n", p.name, p.request, p.response)
		uses = append(uses, p.request, p.response)
		fmt.Fprintf(&needs, "  %s: %q,\n", p.name, p.grant)
		if p.mutates {
			fmt.Fprintf(&acts, "  %q,\n", p.name)
		}
	}
	slices.Sort(uses)
	uses = slices.Compact(uses)
	return m.add(&decl{kind: raw, name: "Requests", file: "calls", uses: uses,
		doc: "The requests by their names on the wire, each with its fields and its answer.",
		body: "export interface Requests {\n" + pairs.String() + `}

/** The name of a request. */
export type RequestName = keyof Requests;

/**
 * One request on its way. The requestId is drawn by the client; repeat marks one
 * whose answer was lost. The sessionId names the session it is about, or the new one
 * for create_session, clone_session and import_session.
 */
export type Call<N extends RequestName = RequestName> = {
  [K in N]: { type: K; requestId: RequestID; sessionId?: SessionID; repeat?: true } & Requests[K]["request"];
}[N];

/** The answer to a request that succeeded. */
export interface ResponseMessage<N extends RequestName = RequestName> {
  type: "response";
  requestId: RequestID;
  data: Requests[N]["response"];
}

/** The answer to a request that failed. In the handshake its requestId is empty. */
export interface ErrorMessage {
  type: "error";
  requestId: RequestID | "";
  code: Code;
  /** One sentence for a person. */
  message: string;
  details?: unknown;
}

/** What answers a call. */
export type Reply<N extends RequestName = RequestName> = ResponseMessage<N> | ErrorMessage;

/** The grant that each request needs. */
export const needs: Readonly<Record<RequestName, Grant>> = {
` + needs.String() + `};

/**
 * The requests that change something: a second one with the same requestId does not
 * act again, and one whose answer was lost is sent again with repeat. All others are
 * simply sent again.
 */
export const acts: readonly RequestName[] = [
` + acts.String() + "];"})
}

// tsLimits declares the numbers and names that clients need, too.
func tsLimits(m *module) error {
	for _, l := range m.limits {
		d := &decl{kind: raw, name: l.name, doc: l.doc, file: "limits", body: fmt.Sprintf("export const %s = %#v;", l.name, l.value)}
		if l.typ != "" {
			d.uses = []string{l.typ}
			d.body = fmt.Sprintf("export const %s = %#v as %s;", l.name, l.value, l.typ)
		}
		if err := m.add(d); err != nil {
			return err
		}
	}
	return nil
}

// tsTools declares the table of tools.
func tsTools(m *module) error {
	return m.add(&decl{kind: raw, name: "tools", file: "tool", uses: []string{"ToolInfo"}, body: m.tools,
		doc: "The tools that are built in, by their names. list_tools has all of a session."})
}
