// Package tool holds the tools a model can call: what each is named, takes and
// does. A tool is used in two steps. Prepare resolves and opens all that the call
// will touch and says what it would do, changing nothing; Run does exactly that.
// Between the two stand the permission decision and the snapshot.
//
// The tools know neither log, model nor clients.
package tool
