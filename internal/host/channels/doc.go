// Package channels takes what MCP servers push into open sessions: which of them may
// ([Channels.Names] and the gates), who is listened to, how much, and how what they send is
// written for a model. It also passes permission questions on to channels, and their verdicts
// back.
//
// A channel pushes only where a person has named it. What it pushes is never run: it enters the
// session as text from outside, through its lane. Each session that listens has one goroutine,
// which ends with it. [Channels] may be used concurrently, and none of the methods that servers
// and turns call waits.
package channels
