// Package extension finds the extensions of a session, runs them in processes of
// their own, and makes each a subscriber of hooks, a source of tools and commands,
// and a watcher of events.
//
// [Find] looks for what is there and starts nothing. A [Set] is the extensions of one
// loaded session: nothing of it costs anything before [Set.Load], and without
// extensions nothing does after it. All JavaScript extensions run in one child of the
// running binary, extensions that are programs each in a process of their own; both
// speak package rpc. A process that is stuck, too large, or dies takes nobody with
// it: what it was asked fails, it is started again when it is next needed with the
// conversation rebuilt from the log, and who was to blame is kept apart and after
// three times left out.
//
// What extensions ask for goes to the one [Host]. The package appends nothing to a
// session, asks no model and knows no lane. An extension is its user's own code:
// nothing here confines it.
//
// A [Set] may be used by several goroutines at once; Close ends every goroutine and
// process.
package extension
