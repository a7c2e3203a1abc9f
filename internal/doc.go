// Package internal holds the rules that all packages below it keep: which may
// import which, who may start processes, and what starting the program may cost.
package internal
