// Package registry holds the open sessions of a host: who has them, which are idle, and
// which are being closed. It opens a session for the first who acquires it and closes it
// when nobody has it and nothing runs in it: an embedded host at once, a serving one when
// it has not been used for a while. It marks the sessions whose messages wait in a queue,
// so that the next host resumes them, and removes what dead hosts and deleted sessions
// left.
//
// It guarantees that a session is open once, that a request begins in none that is being
// closed, and that [Registry.Close] returns when nothing of any session runs any more.
// What runs in a session it does not know: an [Owner] makes that and ends it.
//
// A [Registry] and its sessions may be used by any number of goroutines at once. It calls
// neither its owner nor a lane with its lock held, but to ask whether something runs.
package registry
