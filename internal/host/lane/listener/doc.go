// Package listener passes on what happens in a session to those who watch it: functions
// that get each event when it is durable, and the subscribers of hooks, which are told of
// the start and the end of the session and of what is no event of the log as well.
//
// [Listeners] may be used by any number of goroutines at once. No lock of a session is
// taken while one of its own is held, and nobody who watches can hold the session up,
// except for a few seconds at its end.
package listener
