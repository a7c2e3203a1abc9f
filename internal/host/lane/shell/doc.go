// Package shell runs the commands of people in a session, beside whatever else runs there.
// That a command begins is stored before it does; its output goes to the clients, and its
// message enters when it has ended, at once or at the next step boundary. Of those that a
// killed host has left in the middle the next one says that nobody knows how they went.
//
// [Shells] may be used by any number of goroutines at once. Each command has a goroutine,
// which ends with it, at the latest by [Shells.Stop] and [Shells.Wait].
package shell
