// Package confinement confines the commands of sessions: it says what the sandbox holds
// for a session, starts commands in it, and has the folders for their temporary files,
// which are there until the session is closed.
//
// [Boxes] may be used by any number of goroutines at once. It opens no session.
package confinement
