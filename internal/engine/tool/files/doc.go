// Package files opens the files of a workspace for tools. A path is resolved once, into a
// handle on its folder, and everything afterwards goes through that handle without
// following a link: whoever swaps a link between the question and the use gets an error,
// never another file. Scorel's own folder is refused by path and by inode.
//
// A [Files] may be used by any number of goroutines at once; a [Target] belongs to the call
// that has opened it, which closes it. [Seen] remembers which versions a model has seen,
// and [Restore] takes files back to what they were.
package files
