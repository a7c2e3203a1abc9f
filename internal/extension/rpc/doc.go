// Package rpc is what a host and a process with extensions say to each other:
// JSON-RPC 2.0, one message a line of UTF-8, both ways on stdin and stdout of the
// process; stderr goes to the diagnostics of the session. The child with JavaScript
// extensions and a process in any other language speak the same.
//
// The process begins nothing: the host sends initialize, then extension/load. From then
// on either side may call the other at any time, also while it answers a call; answers
// come in any order. The ids of each side's requests are its own. A line that is no
// JSON is logged and skipped.
package rpc
