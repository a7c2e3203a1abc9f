// Package client is what an entry needs to talk to a host: requests with typed
// answers, and subscriptions that deliver every persistent event of a session once
// and in order, with the state of what is running folded from them.
//
// [WebSocket] reaches a host over a Unix socket, loopback or TLS; the host proves
// itself before the client says anything but who it is. [Connect] keeps a client
// connected: a request whose connection broke is sent again and acts once, a
// subscription goes on from where its reader stands. [New] takes a connection as it
// is and ends with it.
//
// It knows neither engine nor host. A [Client] may be used by any number of
// goroutines at once, the Next of a [Session] by one. Whatever goroutines it starts
// have ended when Close returns.
package client
