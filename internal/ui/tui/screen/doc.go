// Package screen brings frames to a terminal and writes only what has changed.
//
// In inline mode finished lines go to the terminal's own scrollback, each once and in
// order, and a small region below them is redrawn line by line. In full-screen mode
// the region is the whole alternate screen, and finished lines wait until it is left.
//
// One goroutine writes, so that a slow terminal holds up nobody: frames that it had no
// time for are passed over, finished lines are not. A lone frame is drawn at once;
// after it the next one is drawn a [Interval] later. One that looks like the one before does
// not count.
//
// Whatever a line holds, it cannot get out of its place: sequences other than colours,
// weights and links are taken out, and what is too wide for the terminal is cut in the
// region and broken into several lines in the scrollback.
//
// All methods of a [Screen] may be called by any goroutine.
package screen
