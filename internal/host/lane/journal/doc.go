// Package journal is the only way into the log of a session. Every event, persistent or
// transient, enters through a [Journal], which gives it its parent, its author and its
// turn, and hands it to the publisher: what is stored and what clients are told is decided
// in one place. The journal also knows who may append now: the run that goes on, or a move
// that keeps everybody else out.
//
// The parts of a lane share the lock of its journal; each says which of its state that
// guards. Methods that need it held say so. A [Journal] may be used by any number of
// goroutines at once. It starts none, and asks nobody while it is locked.
package journal
