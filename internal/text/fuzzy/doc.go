// Package fuzzy finds paths of a large tree by a few letters, as a person types
// them after an @. It keeps the paths of a tree in one piece of memory and looks
// at every one for each query: 200,000 take a few milliseconds, so there is no
// index that would have to be kept right.
//
// It is own code because what ranks paths well is where a match lies: libraries for
// fuzzy strings take the first letters that fit, know no base names and allocate
// for every candidate.
//
// A [List] is never changed and may be searched concurrently; a [Builder] may be
// added to concurrently. The package reads no files.
package fuzzy
