// Package subagent has the agents that the tool Task starts: each works in a session of
// its own, under what its definition and the turn that wants it allow, and only its answer
// comes back. It works until it is done, or until the turn that waits for it ends; in the
// background it outlives the turn.
//
// A [Starter] may be used by any number of goroutines at once.
package subagent
