// Package questions defines how questions of a session are answered: which answers a
// permission and a plan offer, what a line of text answers, and the request that carries
// an answer to the host. The terminal UI and line mode show the same answers, each in its
// own way.
//
// It holds no state and talks to nobody. All functions may be called concurrently.
package questions
