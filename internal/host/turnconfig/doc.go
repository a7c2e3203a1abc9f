// Package turnconfig makes ready what a turn of a session runs with: models, tools,
// permissions, files, sandbox, hooks, skills, notes and instructions, by the settings as
// they are when the turn begins.
//
// A [Maker] keeps nothing of a turn, and may be used by any number of goroutines at once.
// It opens no session; who has one open is told by [Sessions].
package turnconfig
