// Package inbox has the events wait that channels push into a session. Each is in the log
// before it has an effect, so that a kill loses none; all that wait become one user message,
// which takes them.
//
// The lock of the journal guards an [Inbox]. It is bounded: what does not fit is refused. It
// begins no turn, and does not judge who has sent an event.
package inbox
