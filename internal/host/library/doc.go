// Package library has the sessions that are stored: it makes, lists, searches, reads,
// clones, repairs and deletes them, and says what they have used.
//
// A [Library] keeps nothing of them in memory, and may be used by any number of goroutines
// at once. What is open it takes from the registry through [Opener] and [Reader].
package library
