// Package session keeps the log of a conversation: one file of lines, of which
// the first is a header and every other one a persistent event.
//
// A [Store] is the folder that holds the logs. A [Log] is one of them, opened by
// its only writer under a lock; a [View] is one read by anybody else. Both give
// the same [Index]: which events there are, how they hang together, where the
// leaf is. Bodies stay in the file and are decoded when asked for, so memory
// grows with the number of events and not with their bytes.
//
// What [Log.Commit] acknowledged is on stable storage. What is damaged is set
// aside or left in place and reported, never dropped in silence and never a
// reason not to open. Nothing is deleted but by [Store.Delete] and
// [Blobs.Prune].
//
// A Store, an Index, a View and Blobs may be used by any number of goroutines at
// once, also while a Commit runs. The package knows nothing of other sessions,
// runtimes or clients.
package session
