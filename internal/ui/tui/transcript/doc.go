// Package transcript is the conversation as a terminal shows it: what people and the
// model said, one card for each call of a tool, and the markers between them.
//
// It is fed with the persistent events of the active path ([Transcript.Append],
// [Transcript.Prepend], [Transcript.Cut]) and with what is running
// ([Transcript.Live]), and is drawn in one of two ways. In inline mode
// [Transcript.Commit] gives each line that can no longer change, once and in order, for
// the terminal's scrollback, and [Transcript.Region] what may still change. In
// full-screen mode [Transcript.View] gives a screenful, with a scroll position, a
// selected item and a search of its own. Both may be used in turn.
//
// Only what is seen is drawn, and what is drawn is kept by width and theme, within
// bounds. All text from outside is cleaned before it gets into a line: lines hold SGR
// sequences and links (OSC 8) of this program, the sequences of [Images], and no
// others.
//
// A Transcript does no I/O, starts nothing, and belongs to one goroutine.
package transcript
