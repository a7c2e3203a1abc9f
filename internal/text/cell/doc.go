// Package cell measures and shapes text for a terminal: in cells, which a letter
// takes one of and a wide character two.
//
// A line is a string without a line break that may hold SGR sequences (colours and
// weights) and no other control characters. What comes from outside becomes one only
// through [Clean] or the display package. Every function keeps that: what it gives
// begins and ends in the terminal's plain style, and shows what it was given.
//
// All functions are pure and may be called by anybody at once.
package cell
