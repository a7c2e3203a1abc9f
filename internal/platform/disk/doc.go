// Package disk is the seam between what Scorel stores and the operating system:
// an interface of a few calls, so that tests can hold back, fail, drop and
// reorder each of them (see disk/disktest).
//
// It promises nothing of its own about durability; the rules are those of
// POSIX: bytes survive a power cut once File.Sync has returned, names once
// SyncDir has.
package disk
