// Package exec makes subscribers of the entries [[hooks]] of the configuration: shell
// commands that get an event as a JSON object on stdin and answer with their exit
// status and a JSON object on stdout. docs/hooks.md is their contract.
//
// A hook is the user's own code. It runs unconfined, in the folder of the project, with
// the scrubbed environment, in a session of its own that ends with it and with its time
// limit. What it is told and what it prints are in no log.
package exec
