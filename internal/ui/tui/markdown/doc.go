// Package markdown makes lines for a terminal of the Markdown that models write, while
// it comes in.
//
// It reads line by line and keeps the blocks that are open, so that a piece of text
// costs what the open block costs, and what is finished is drawn once: a line that
// [Stream.Take] has given never changes, whatever follows. How the text was cut into
// pieces makes no difference.
//
// It knows CommonMark's blocks and emphasis with the tables, task lists, struck text
// and bare URLs of GitHub, but for two things: links by reference stay as they are
// written, since their target may come later; and HTML is shown as text. goldmark,
// which the tests compare it with, reads whole documents (200 KB in 10,000 pieces took
// it 0.26 s for the open paragraphs alone) and makes 2,900 allocations at every start.
//
// Text is cleaned here. Lines hold SGR sequences, links (OSC 8) to http and https
// addresses, and no others. A Stream belongs to one goroutine.
package markdown
