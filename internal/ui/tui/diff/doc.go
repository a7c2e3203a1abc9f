// Package diff makes lines for a terminal of unified diffs: with the numbers of the
// lines, what changed within a line marked, and the colours of the language.
//
// A diff is outside text: it is cleaned here, and one that is no diff is shown as it
// is. The work is bounded by the constants of this package. All functions are pure and
// may be called by several goroutines at once.
package diff
