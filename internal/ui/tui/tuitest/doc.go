// Package tuitest runs a program on a terminal for tests and measurements: in a tmux
// server of its own, which shows what a person would see, or on a bare
// pseudo-terminal, which shows every byte. A [Harness] is the home, the project and the
// model that scorel has there.
//
// A [Tmux] and a [PTY] belong to one test, and may be used by its goroutines at once.
// Nothing of the machine's own tmux servers and settings is touched.
package tuitest
