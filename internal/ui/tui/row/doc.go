// Package row composes lines of pieces with styles of their own, and says which rows
// of many are seen. Lists, trees, dialogs and the status line are drawn with it.
//
// The functions are pure. Text in a [Piece] is on one line and safe to show already.
package row
