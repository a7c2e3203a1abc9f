// Package rendering has what extensions draw in a conversation: calls of their tools and
// their messages, as lines. It asks the host for them beside the UI, keeps what comes by the
// event and the width, and has finished lines wait for it for a bounded time; what comes late,
// or what nobody draws, looks as it does without. What waits and what is kept are bounded.
package rendering
