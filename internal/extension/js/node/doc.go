// Package node brings the modules of Node that extensions use to the engines of package
// engine: fs, path, os, child_process, crypto, util, events, url, timers, assert,
// buffer, stream, process, the client side of http and https, and a few small ones. They are scripts over native functions
// in Go, read when an extension first asks for one.
//
// They are what programs need day by day, not all of Node: what a module lacks is a
// function that says so by name when it is called. Paths are POSIX paths. Files and
// processes are the user's own: nothing here asks for permission.
package node
