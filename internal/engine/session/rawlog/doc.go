// Package rawlog reads the bytes of a session's log, whole or damaged, without knowing what
// the events in them mean together: it cuts a file into blocks of lines, finds the events
// that are whole, the end after which none is, and what must not be forgotten of bytes that
// are no event. It writes nothing. None of its values may be used by two goroutines at once.
package rawlog

// MaxSeq is the highest number an event may have: what a JavaScript client can
// count to.
const MaxSeq = 1<<53 - 1
