// Package keymap says which key does what: every action of the terminal UI has a name,
// a place where it counts, and keys that the user's file may replace.
//
// A [Map] never changes once it is made; a [Reader] holds the beginning of a sequence
// of keys and belongs to one goroutine.
package keymap
