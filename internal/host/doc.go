// Package host is the only owner of sessions and runtimes on a device. Entries
// reach it through connections that carry requests and frames; each session has
// one lane, one publisher and one log.
//
// An embedded host lives in the process of its entry and takes only the locks of
// the sessions that it opens. A serving one goes on, at its start, with the messages
// that wait in the queues of the device. A request that acts is handled once,
// though its connection ends; [Host.Drain] ends a host gently, [Host.Close] at once.
// A [Host] and its connections may be used by any
// number of goroutines at once. It knows no user interface and not the client
// package.
package host
