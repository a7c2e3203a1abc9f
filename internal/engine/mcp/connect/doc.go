// Package connect speaks with MCP servers: it starts or calls one, agrees on a version,
// reads its lists and calls its tools.
//
// The wire is that of github.com/modelcontextprotocol/go-sdk. What stands between the
// two is here: frames that a server may damage (frames.go), its process (process.go), its
// address (address.go), names, descriptions and schemas as a model may see them (tools.go),
// and the answer to a call (answer.go).
//
// A server is a stranger: each of its texts is cleaned and cut, each list, line and time
// has a bound, and nothing that it says about its tools gives a permission.
package connect
