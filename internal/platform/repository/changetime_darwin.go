package repository

import "syscall"

// ChangeTime is when a file was last changed, in nanoseconds of Unix time.
func ChangeTime(st *syscall.Stat_t) int64 { return st.Ctimespec.Nano() }
