// Package completion asks models beside conversations: for titles, summaries, notes and
// what extensions want to know. An answer is whole, and what it used goes into the sum and
// the diagnostics of the session that it is for; nothing of what was asked or answered
// does. How many are asked at once, and how many wait, has a bound.
//
// An [Asker] may be used by any number of goroutines at once.
package completion
