// Package publish puts the events of one session in order and lets nobody see
// one before it is stored.
//
// An event gets its seq on entering. A persistent event leaves when the commit
// that holds it has returned, a transient one when it is first, so the order in
// which clients see events is the order of seq and nothing is sent past an event
// that is not durable. Events that wait together go out in one commit.
//
// A [Cursor] reads what has left at its own pace, from a ring of the newest events.
// It costs the publisher nothing while its reader is slow: the ring goes on without
// it, and it is told to go on from the log. The state of the session at the moment at
// which a cursor goes live is taken under the publisher's lock, so that what follows
// fits it. Many cursors are told at a pace, so that what they are told is worth the
// waking.
//
// A [Publisher] may be used by any number of goroutines at once. It never reads
// the log.
package publish
