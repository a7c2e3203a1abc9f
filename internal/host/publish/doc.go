// Package publish puts the events of one session in order and lets nobody see
// one before it is stored.
//
// An event gets its seq on entering. A persistent event leaves when the commit
// that holds it has returned, a transient one when it is first, so the order in
// which clients see events is the order of seq and nothing is sent past an event
// that is not durable. Events that wait together go out in one commit.
//
// A [Publisher] may be used by any number of goroutines at once. It never reads
// the log.
package publish
