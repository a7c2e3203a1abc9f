// Package discovery finds the folders in which people keep skills and slash commands,
// and reads what is there: those of the user, and those on the upward search of
// a project, nearest first.
//
// Reading follows no link out of where it may not lead, waits for no pipe, and
// takes no file above its bound. The package keeps what it read of a file, so that
// a file which is as it was is only looked at by stat. It changes nothing; all of it
// may be used by several goroutines at once.
package discovery
