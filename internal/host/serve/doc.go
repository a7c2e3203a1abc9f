// Package serve lets clients reach a host over sockets: WebSocket connections and
// HTTP with server-sent events, on a Unix socket, on loopback TCP and over TLS. It
// decides who comes in and carries messages; what they mean is the host's part.
//
// A connection is nothing until it has proved itself: it may take neither memory
// nor time that others need, and its refusals are counted and reported without
// secrets. A client that reads slowly holds up nobody but itself. A [Server] may be
// used by any number of goroutines at once; [Server.Shutdown] waits for every
// goroutine that it has started.
package serve
