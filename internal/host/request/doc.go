// Package request is how requests find who handles them: a [Table] of handlers by type,
// into which each package of the host enters those of its subjects, with [On] or
// [InSession]. A request without a handler is an error when the host is made.
//
// A table does not change when it is complete, and may be read by any number of
// goroutines at once.
package request
