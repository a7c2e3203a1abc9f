// Package follow follows a session for a program that shows it: updates of the session,
// answers to requests, what is typed, signals. All of it reaches the program one after the
// other, on the goroutine that is in [Follower.Run].
//
// What it guarantees, beside what a [client.Session] does:
//
//   - Order: updates come in the order of the session, each once. While a request of
//     [Follower.Ask] is on its way, updates wait for its answer, but for notices, which may
//     say what it waits for.
//   - Reconnects: they are the client's. The update after one says with its Resync what is
//     void; a [Turn] goes on over it.
//   - The end of a turn: it is found in its runtime_end, and in the state of a fresh update
//     where nobody saw that one. A turn of which neither tells ends with [ErrUnseen]; no
//     turn is waited for in vain.
//   - Being late: nothing is dropped. At most 4,096 updates wait in here, then they wait at
//     the client, and then at the host, which catches up from the log what it no longer
//     holds.
//
// [Turn] knows the turn that handles one message, [Activity] whether anything of a session
// runs or is about to. They know the protocol and nothing else.
package follow
