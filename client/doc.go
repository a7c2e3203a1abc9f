// Package client is what an entry needs to talk to a host: requests with typed
// answers, and subscriptions that deliver every event of a session once and in
// order, with the state of what is running folded from them.
//
// It knows neither engine nor host; how messages travel is the [Transport]'s
// part. A [Client] may be used by any number of goroutines at once, a [Session]
// by one.
package client
