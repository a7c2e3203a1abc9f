// Package framed has the frames of what a slash command has sent that is not the words of who
// typed it, and shows messages with them as people read them. Its functions are pure.
package framed
