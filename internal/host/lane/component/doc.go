// Package component shows what extensions draw themselves: panels that one client has on its
// screen, and whose keys go to the extension.
//
// A component is a dialog of kind custom for all clients ([question.Questions.Component]), and
// for the one that has it a stream of frames, of which only the newest counts. Frames are
// stored nowhere, and of their control sequences only colours and weights stay: an extension
// that sends anything else cannot reach a terminal with it. What extensions and clients send
// is bounded; nobody is waited for.
//
// [Components] may be used by any number of goroutines at once. Its lock is never held while
// the journal's is taken.
package component
