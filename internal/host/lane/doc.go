// Package lane carries one session: its queues, its running turn, its commands, its
// questions to people. Requests of all clients meet here and are taken one at a time.
//
// A [Lane] is made of parts, each in a package below this one, and what remains here is
// the running turn, what may run next, and moves. All parts append through one
// [journal.Journal] and share its lock.
//
// While a turn runs only the turn appends conversation events: what others want to add
// waits and enters at the next step boundary. Control events enter at once. The lane counts
// what has entered as the leaf; everybody else sees what is published.
//
// A command of a person runs beside all that: it is recorded before it begins, and its
// message enters when it has ended, as what others add does.
//
// Before a message can wait the session is marked ([queue.Pending]), so that a later host
// finds it. A lane that is drained begins no turn any more and ends the running one
// where nothing of it is in the middle.
//
// The lane of a sub-agent is a lane like any other, whose turn is tied to the lane that
// it works for ([Above]): what is allowed there, who is asked there, and what may be
// spent there.
//
// A [Lane] may be used by any number of goroutines at once.
package lane
