// Package transfer takes sessions out of a host and in: it writes exports, keeps them and
// the parts of imports while they are on their way, and makes sessions of what was sent.
// Files on their way have no name on the disk and have a bound: nothing is left of them,
// however the host ends.
//
// [Transfers] may be used by any number of goroutines at once. No I/O is done with the
// lock of the files held.
package transfer
