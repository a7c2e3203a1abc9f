// Package jobs makes sessions from templates, which are Markdown files of the user and of
// trusted projects, and sorts how far each is when a turn of it has ended: by the auxiliary
// model, or, without one, by how the turn has ended.
//
// A template is found in the list of those that are there, never by a path that is made of its
// name. One that cannot be used is named, and takes none of the others away. Nothing waits for
// the auxiliary model, and a job whose session goes on meanwhile keeps the state that it has
// then. [Jobs] may be used by any number of goroutines at once.
package jobs
