// Package demo is a model without a network and without a language: with
// nothing configured it shows what an agent does, by really doing it. Asked to
// repair a project it looks for a test script, runs it, reads what fails, and
// tries small changes until every check passes, all through the tools of the
// session and under its permissions. It says that it is a demo.
//
// It knows nothing of any project; what it tries follows from what the tools
// answer. It keeps no state either: each answer is a function of the messages of
// the request, so a conversation goes on after a kill, a rewind, a branch or a
// compaction as if nothing had happened. A model may be used by any number of
// goroutines at once. It never runs anything itself.
package demo
