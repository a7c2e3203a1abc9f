// Package tree is the navigator of a session: all that was ever said in it, with the
// branches that were left, the names of events, and where the conversation is. A
// person finds an event and goes on from there.
//
// A [Tree] is built from the persistent events of the log in their order, whole or page
// by page, and takes in those that come while it is open. It keeps of each event one
// line, not its content. It does no I/O and belongs to one goroutine. Texts of events are
// made safe to show.
//
// # How it is laid out
//
// What continues is below without an indent, so that the active path reads straight
// down. Where the conversation went on in several ways, the others are before it, one
// step to the right, folded. What a filter hides is left out, and what hangs on it moves
// up to the nearest event that is seen.
package tree
