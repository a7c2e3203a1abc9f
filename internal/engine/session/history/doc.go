// Package history turns the active path of a session into the messages a model
// is sent, and plans how that list becomes shorter when it does not fit.
//
// What it builds is a pure function of the log and the leaf (and of what the
// hooks answer): the same path gives the same bytes, and two successive requests
// share their prefix. The order of the passes is fixed: walk, hooks, pairing,
// shrinking, notes, conversion, pairing again. History never writes: a plan comes
// back as the body of an event, and takes effect when the host has appended it.
//
// A [Builder] belongs to one session and is used by one goroutine at a time; what
// it returns is never changed afterwards and may be shared. The functions without
// a receiver may be called by any number of goroutines.
package history
