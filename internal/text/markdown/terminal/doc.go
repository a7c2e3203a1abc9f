// Package terminal makes lines for a terminal of the Markdown that models write, while
// it comes in.
//
// It reads line by line and keeps the blocks that are open, so that a piece of text
// costs what the open block costs, and what is finished is drawn once: a line that
// [Stream.Take] has given never changes, whatever follows. How the text was cut into
// pieces makes no difference.
//
// What it knows of Markdown is said in package text/markdown, which reads it; this package
// draws.
//
// Text is cleaned here. Lines hold SGR sequences, links (OSC 8) to http and https
// addresses, and no others. A Stream belongs to one goroutine.
package terminal
