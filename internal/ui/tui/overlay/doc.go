// Package overlay is what lies over the editor and takes the keys: lists to pick from,
// texts to read, questions for a line of text. A [Stack] holds what is open; the uppermost
// one has the focus.
//
// What an overlay does with an answer is the function that it was opened with; it returns
// what the loop of the UI is to run beside it. Everything here belongs to the goroutine of
// the UI, does no I/O and starts nothing.
package overlay
