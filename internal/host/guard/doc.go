// Package guard is what becomes of a panic in a goroutine of a host: it is noted, and
// where it has left what all sessions share locked, the process ends with [ExitCode],
// after what is stored has left for the clients.
//
// A [Guard] may be used by any number of goroutines at once. It takes no lock of the
// host's rooms but to find out whether one is stuck.
package guard
