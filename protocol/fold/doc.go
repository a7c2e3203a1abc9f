// Package fold makes the state of a session of its events. Host and clients fold with it, and
// with nothing else, so that all see the same; what a state holds says [protocol.Live].
//
// Lists of a state are replaced where copies share them. A state belongs to one goroutine at a
// time.
package fold
