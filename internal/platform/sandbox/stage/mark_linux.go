package stage

import (
	"syscall"

	"scorel/internal/platform/sandbox/stage/kernel"
)

// Mark is what a confined process has as its RLIMIT_RTTIME, in microseconds: it
// names the user namespace. That limit binds processes with realtime scheduling
// only, and this one is beyond 100,000 years. Children inherit it, the filter of
// system calls keeps it, and /proc/<pid>/limits shows it to everybody, also of a
// program that may be executed and not read, which hides its namespace.
func Mark(namespace uint64) uint64 { return 1<<62 | namespace }

// mark marks this process.
func mark() error {
	var st syscall.Stat_t
	if err := syscall.Stat("/proc/self/ns/user", &st); err != nil {
		return failed(err, "look at the user namespace")
	}
	var old syscall.Rlimit
	if err := kernel.Prlimit(kernel.RLIMIT_RTTIME, nil, &old); err != nil {
		return failed(err, "look at the limit of realtime")
	}
	m := Mark(st.Ino)
	if old.Max < m {
		return nil // somebody has limited it, and it cannot be raised
	}
	if err := kernel.Prlimit(kernel.RLIMIT_RTTIME, &syscall.Rlimit{Cur: m, Max: m}, nil); err != nil {
		return failed(err, "mark the command")
	}
	return nil
}
