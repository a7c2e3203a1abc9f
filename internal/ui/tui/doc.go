// Package tui is the terminal UI: a client of a host that shows a session as it runs
// and steers it.
//
// Everything it shows comes from the host. What it keeps itself is what a terminal
// needs: the history of what was typed, settings, themes and keys, in files of the
// user's Scorel folder. A crash of it, or of the line to the host, ends no turn.
//
// # How it is made
//
// One goroutine, that of Bubble Tea, owns the model and all components. A component is
// a package below this one. It does no I/O and starts nothing: keys reach it as actions
// of the keymap or as text, what it wants done comes back as a value, and it draws
// itself as lines of at most the width that it is given (see package cell). Package
// screen brings the lines to the terminal, and writes only what has changed.
//
// Text from outside (models, tools, file names, other people) reaches a component only
// through the display package or cell.Clean, so that no control sequence of it gets to
// the terminal.
package tui
