// Package title names sessions: the auxiliary model is asked once, after the first answer
// of a session that has no name. Nobody waits for it, and whatever goes wrong is written
// in the diagnostics alone.
//
// [Titles] may be used by any number of goroutines at once.
package title
