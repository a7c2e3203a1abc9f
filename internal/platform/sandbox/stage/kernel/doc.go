// Package kernel has the system calls and constants of Linux that the stage uses and
// package syscall lacks. They are those of golang.org/x/sys/unix, with the same names and
// values, which a test compares; that package cannot be used, because a third of the
// program's packages are initialised before it, and each confined command waited for them.
//
// Numbers and structs are from the headers of Linux (include/uapi). A file path is without
// NUL bytes. Errors are of type [syscall.Errno].
package kernel
