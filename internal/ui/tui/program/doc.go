// Package program runs programs of the user for the terminal UI: one that has the terminal
// while it runs, and one whose output is taken. They get the environment of the UI; the
// latter without the keys of models. Processes are started by package sandbox alone.
package program
