// Package dedup remembers the requests that acted, so that each acts once however often
// a client sends it: a repeat waits for the first one, or is given what came of it. A
// request is handled to its end, also when the connection that brought it is gone.
//
// What it remembers has bounds, in memory alone; what is beyond them is found in the log
// of the session. [Requests] may be used by any number of goroutines at once and calls
// nobody with its lock held.
package dedup
