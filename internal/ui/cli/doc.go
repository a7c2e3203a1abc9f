// Package cli is the command line: a command is a file, which parses flags, makes a call
// through the client, and prints what comes back. It opens no session file and holds no
// runtime; without a running host it starts one in its own process and speaks to it over
// the same connection.
//
// What lasts longer than one call is elsewhere: runs without a screen in package headless,
// line mode in package line, the terminal UI in package tui; all that print follow a
// session with package follow.
//
// stdout holds results only, and with a JSON format nothing but JSON; everything else goes
// to stderr. The exit codes are those of package exit.
package cli
