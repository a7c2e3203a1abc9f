// Package filelist finds files of projects by a few letters of their names, and shows them to
// people, as far as tools could read them without asking. What it finds it answers from
// lists in memory, of which there are few; an old one is taken again while it answers, and
// all go when nobody asks.
//
// [Files] may be used by any number of goroutines at once. No folder is read with the lock
// of the lists held.
package filelist
