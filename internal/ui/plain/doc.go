// Package plain makes plain text for people from what a host answers: tables, counts, and
// a line for each event of a session. The command line and line mode use it.
//
// Text that can come from anywhere is made safe for a terminal, with package display. Its
// functions have no state and may be called concurrently.
package plain
