// Package input is what a person types into the terminal UI: the editor with its
// completion, history and attachments, what is on its way to the host, and the draft that
// is kept on disk for after a crash.
//
// What was typed is sent in its order. It is shown as on its way until the host has
// confirmed it, and returns to the editor, or else to the history, when it could not be
// sent; nothing that was typed is lost silently. An [Input] belongs to the goroutine of
// the UI; the disk is written beside it.
package input
