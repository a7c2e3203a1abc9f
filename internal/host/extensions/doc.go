// Package extensions has the extensions of open sessions: which there are and count, what
// they may ask the host for, what they show, and which tools and commands they add. They
// run in processes of their own, which are started with the first turn or command that
// could need them and end with the session.
//
// What an extension asks for it is given within bounds, and never a key that it may not
// see. An [Extensions] and its sessions may be used by any number of goroutines at once.
package extensions
