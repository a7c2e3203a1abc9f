// Package restore takes the files of a session back to what they were when a part of the
// conversation began that a move has left: the log says what the agent has written, in
// which state each file was before, and how it was left. What somebody else has changed
// since is left alone unless it is named. A [Restorer] starts no goroutine, and its files
// must not be written by a turn meanwhile.
package restore
