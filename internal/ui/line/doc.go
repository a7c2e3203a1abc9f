// Package line is line mode: a session that a person watches and steers in lines, on a
// terminal that can do little, through a screen reader, or through pipes. scorel attach
// --plain is that.
//
// What happens in the session is shown as it comes, above the line that is typed; nothing
// that was shown is drawn again. On a terminal text streams in; without one, a message is
// a line when it is stored. Questions are asked one at a time and answered by a line; the
// slash commands are those of package slash that it has, and those of the host. What the
// terminal UI has and lines cannot show is refused by its name.
//
// What is typed is handled in its order, each line after those before it, once the session
// has been shown as it is. When the connection is gone, what is typed waits; what the host
// has not confirmed at the end is told.
package line
