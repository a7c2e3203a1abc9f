// Package tui is the terminal UI: a client of a host that shows a session as it runs
// and steers it.
//
// Everything it shows comes from the host. What it keeps itself is what a terminal
// needs: the history of what was typed, settings, themes and keys, in files of the
// user's Scorel folder. A crash of it, or of the line to the host, ends no turn.
//
// # How it is made
//
// One goroutine, that of Bubble Tea, owns the [Model] and all components. The model joins
// the components, routes messages to them and composes what is seen; what they know is
// theirs:
//
//	link          the connection, requests that are under way, updates that came
//	hostinfo      project, configuration, models; what is in force by them
//	conversation  the open session: its state, its path, how much the transcript has of it
//	input         what is typed, on its way to the host, and kept for after a crash
//	overlay       lists, pages and prompts over the editor: a stack
//	question      what waits for an answer, and when it takes keys
//	panel         what commands open
//	picture       the pictures that go into the scrollback
//	window        the terminal: screen, size, theme (here)
//	reading       the conversation as a person reads it (here)
//	focus         which of these takes the keys (here)
//	statusArea    what is around the editor (here)
//
// A component names what it needs of another as an interface of its own, of one to three
// methods. What runs beside the goroutine (a request, a timer, a reader) returns as a
// message of package loop, mostly a function that the loop calls.
//
//	key ─▶ focus ─▶ overlay, question, reading or editing ─▶ command ─▶ link ─▶ host
//	host ─▶ link ─▶ conversation ─▶ Arrival ─▶ questions, panels, status
//	every message ─▶ View ─▶ frame ─▶ screen, which writes what has changed
//
// Packages that only draw (transcript, editor, list, tree, dialog, status, …) do no I/O and
// start nothing: keys reach them as actions of the keymap or as text, what they want done
// returns as a value, and they draw lines of at most the width that they are given (see
// package cell).
//
// Text from outside (models, tools, file names, other people) reaches a component only
// through the display package or cell.Clean, so that no control sequence of it gets to
// the terminal.
package tui
