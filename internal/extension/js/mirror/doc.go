// Package mirror is the conversation as the child with extensions holds it: a [Store] of
// raw entries that the host keeps up to date, and for each runtime a [View] that shows
// them to JavaScript.
//
// A view makes objects of entries and messages when code reads them, so that a list of
// 10,000 messages costs little when it is only passed on. An element of a list of
// messages is the message itself; message (itself) and entryIndex stand on its prototype,
// so that code which expects {message, entryIndex} finds them and spreading or printing
// does not. Elements can be written to; the store and other lists do not change by that.
// What was written to, at any depth, is found when the list comes back, by comparing.
//
// A Store may be used concurrently; a View belongs to the goroutine of its runtime.
package mirror
