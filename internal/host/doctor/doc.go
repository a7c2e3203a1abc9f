// Package doctor checks an installation: folders and their modes, disk, programs,
// sessions, clock, memory. Each check says in a sentence what it found and, when
// that is not well, what to do. Checks run side by side, each for at most 5 s,
// and change nothing, but for a probe file that is removed at once. They print no
// key and no content of a session. All functions may be called concurrently.
package doctor
