// Package headless runs a session for a program without a screen: scorel -p sends one
// prompt, a command, or requests from its input, scorel send --wait one message. It follows
// the session with package follow, prints what comes in one of three formats, and sums it
// up in a [Result], from which the exit code comes.
//
// With a JSON format the output is JSON alone; all that is for people goes to the error
// output. A [Run] belongs to one goroutine and follows one session.
package headless
