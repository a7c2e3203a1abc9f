// Package tool holds the tools a model can call: what each is named, takes and
// does. A tool is used in two steps. Prepare resolves and opens all that the call
// will touch and says what it would do, changing nothing; Run does exactly that.
// Between the two stand the permission decision and the snapshot.
//
// Files are used through handles: a link swapped between the question and the
// use leads to an error. Scorel's own folder is refused by path and by inode.
// Answers are bounded, and the search tools answer alike with and without
// ripgrep. All exported types may be used by several goroutines at once.
//
// The tools know neither log, model nor clients.
package tool
