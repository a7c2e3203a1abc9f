// Package prefs keeps what the terminal UI remembers for its user: what was typed, in
// ~/.scorel/history, and settings, in ~/.scorel/tui.toml; and it says which program a
// person edits text with.
//
// Both files are shared by all terminals of a user. Each is changed under a lock, as
// a whole or not at all, with mode 0600. A damaged file costs what is damaged in it:
// the rest counts, and nothing is thrown away.
//
// A [History] belongs to one goroutine; everything else may be called concurrently.
package prefs
