// Package dialog is what somebody must answer: whether a call may run, a question of the
// model, a dialog of an extension, a plan, whether a project is trusted, whether a
// thing is meant.
//
// A [Dialog] does no I/O and belongs to one goroutine. Its answer comes back as a
// request to the host. One that was answered elsewhere is dropped by its ID. It shows
// what is asked about in full: what does not fit is counted, never hidden, and a text
// that came from outside is made safe first.
//
// # What was typed before the question was seen
//
// A question may come up in the middle of a word, and a "y" that was meant for the
// draft must not allow a call. A [Guard] decides where a key goes: to the dialog only
// when the dialog has been on the screen for a moment and nobody was typing; until then
// to the draft. The dialog shows by its pointer that it takes keys now.
package dialog
