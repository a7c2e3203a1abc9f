// Package terminal knows what terminals can do beyond text: pictures, the clipboard,
// notifications. It makes the sequences for them and writes nothing itself; package
// screen writes them, between frames or as a part of the scrollback.
//
// What a terminal can do comes from the environment, and from what it answers. All
// text that goes into a sequence is cleaned, so that none can end the sequence and
// begin another. All functions are pure and may be called by anybody at once.
package terminal
