// Package failure turns errors into what a client is told: a code of the protocol and a
// sentence that says what to do. It knows the errors of the engine, and keeps nothing;
// everything in it may be used by any number of goroutines at once.
package failure
