// Package background holds the background commands of one session: it starts them,
// keeps a bounded part of what they print, watches it for patterns, says once
// that each has ended, and ends them all with the session.
//
// A command is drained however much it prints: of its output the first 32 KiB and
// the newest 256 KiB are kept, in memory, and the rest is counted. What a model is
// to be told without having asked gathers here and is fetched with [Set.Take]: a
// flood of matching lines becomes a few notices and a count.
//
// A [Set] may be used by any number of goroutines at once. It appends nothing to
// a log, calls no model, and never starts a process but through the spawner that
// it is given.
package background
