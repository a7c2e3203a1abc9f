// Package queue holds the messages that wait in a session: those that steer the running
// turn, and those that follow it. The log has each state of a queue as an event; a message
// that is taken names its item, which is what takes it.
//
// [Queues] are guarded by the lock of the journal, and every method reports whether it needs
// that held. A queue is bounded in messages and in bytes. [Pending] keeps a file while
// messages wait, so that a later host finds the session.
package queue
