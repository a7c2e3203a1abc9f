// Package agents is the strip below the editor that lists the sub-agents which work in the
// background of a session: a row for the main conversation and one for each of them.
//
// [Strip.Rows] alone decides who is listed, for what is drawn and for what keys do. A strip
// does no I/O and handles no keys by itself: the focus of the UI calls what a key means, and
// what is to be done with an agent returns as a value. It belongs to one goroutine.
package agents
