// Package pool keeps the connections to MCP servers: one for each server and workspace,
// shared by the sessions there, made in the background and closed some minutes after the
// last session has left.
//
//	pending ── connected      its tools are known and can be called
//	   │  └─── needs-auth     somebody has to sign in; then Reconnect
//	   └────── failed         Problem says why
//
// A process that has ended is started again when one of its tools is called, or by
// [Lease.Reconnect]; an address is tried again by itself, five times and slower each time.
// A call is sent once: where nobody knows whether it took effect, the error says so.
package pool
