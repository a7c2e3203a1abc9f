// Package addition has conversation events wait that others than the running turn add to a
// session: they enter at once when nothing runs, else at the next step boundary or at the end
// of the turn. Messages are stored while they wait, so that a kill loses none.
//
// A [List] may be used by any number of goroutines at once; the lock of the journal guards
// it. It is bounded: who adds more than it holds is refused.
package addition
