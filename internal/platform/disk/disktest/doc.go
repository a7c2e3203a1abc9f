// Package disktest has file systems for tests of what is durable: [Mem] keeps
// what was written apart from what was synced and can crash, [Faulty] fails the
// N-th call, [Gate] holds syncs back. They may be laid over each other and used
// by any number of goroutines at once.
package disktest
