// Package field is one line of text that is typed: the filter of a list, the new name
// of something, the reason of an answer. The text of the conversation is typed in the
// editor, which is another package.
//
// A [Field] does no I/O and belongs to one goroutine. What is inserted is made safe to
// show and brought onto one line first.
package field
