// Package progress takes what tools, skills, sub-agents and background commands
// report of their work and makes process events of it: numbered for each operation,
// cut to size, without secrets, and thinned out to what a person can follow. It keeps
// every one of them in the log of its operation and gives the summary that stays with
// a result.
//
// A [Recorder] serves one session, a [Call] one call or background command; both may
// be used by any number of goroutines at once. Reporting never waits for a client, nor
// for the disk: who reports faster than lines can be written loses lines, which a note
// in the log counts, and nothing else.
//
// Nothing of this is ever sent to a model. The package starts no process, and knows
// neither the log of the conversation nor clients.
package progress
