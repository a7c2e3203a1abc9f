// Package highlight colours source code line by line, in one pass over each line and
// with one small [State] between two of them, so that code can be coloured while it
// comes in and no text can make it slow.
//
// It knows words, strings, numbers and comments of a language, not its grammar: what
// it cannot know it leaves plain. Lexers made of regular expressions were tried first
// and took 2 to 7 µs a byte, kept their state for whole files only, and had to be
// guarded by time.
//
// Lines are cleaned text without line breaks. Tables are made when a language is first
// used. All functions may be called by several goroutines at once.
package highlight
