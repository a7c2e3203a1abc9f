// Package protocol is the contract between everything in Scorel: identifiers,
// the events of a session log, the messages inside them, the requests and
// frames between an entry and a host, and the error codes.
//
// One line of a log is one persistent [Event] is one unit of synchronisation.
// The package is strict in what it writes and tolerant in what it reads: an
// event of an unknown type, or a known one with unknown fields, keeps its bytes
// and is written back unchanged ([Event.AppendLine]).
//
// It has a file for each thing that is said in it, with its type, its bounds and what a
// request about it needs side by side, and so may be longer than other packages.
//
// Values are plain data and safe to share once nobody changes them any more.
// The package imports nothing of Scorel and does no input or output.
package protocol
