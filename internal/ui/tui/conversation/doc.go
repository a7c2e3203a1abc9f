// Package conversation is the terminal UI's view of the open session: which one it is, its
// state as the host has it, and how much of it the transcript holds.
//
// Updates of the host reach it through package link. It applies them to a projection,
// brings the transcript to where the projection is, fetches events that belong there, and
// reports what else has changed as an [Arrival]; questions, panels and the status line are
// not known here. A [View] belongs to the goroutine of the UI and does no I/O.
package conversation
