// Package complete is the list under the editor that offers what may be typed: files
// after an @, commands after a slash, and the arguments of a command.
//
// It does no I/O. What it wants to know comes back from [List.Update] as a numbered
// question, at most one for each change of what is typed, and whoever has the answer
// gives it with that number. Until it comes the last answer is shown, filtered; an
// answer that is older than the one that is shown is dropped. So a slow host makes
// the list old for a moment and never the keys slow.
//
// A [List] belongs to one goroutine.
package complete
