// Package editor is the text that is being typed: several lines with undo, a kill
// ring, history, pastes and images as chips, and the keys of vi for who wants them.
//
// The text is one piece of memory in which a chip takes five bytes that no text can
// hold, and a list of the places where the lines on the screen begin. A key press
// moves bytes after the cursor and wraps again from the line before it until that
// falls into step with the old lines, so it costs next to nothing in a text of a
// megabyte. A cursor stands only between grapheme clusters.
//
// What is typed is kept as it is, but for line ends, which become \n, and bytes that
// are not text, which become U+FFFD. Control characters, and those that reorder or
// hide text, are shown as signs for them and never as they are.
//
// An [Editor] does no I/O and belongs to one goroutine.
package editor
