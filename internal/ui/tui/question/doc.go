// Package question is what the host, the extensions and the UI itself wait for a person to
// answer: which questions are open, which of them is in front, and when it takes keys.
//
// Keys reach a question through a guard (see dialog.Guard), so that what was typed into
// the editor answers nothing. An answer is sent beside all requests that wait in order. A
// [Queue] belongs to the goroutine of the UI; how a question looks is in package dialog.
package question
