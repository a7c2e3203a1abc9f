// Package slash defines the slash commands that clients for people handle themselves,
// because they are about what such a client shows: the name of each, its arguments, its
// help, and whether the terminal UI and line mode have it. A host has its own commands,
// which every client can run.
//
// It holds no state and handles nothing: a client maps the names to what it does. All
// functions may be called concurrently, and what they return must not be changed.
package slash
