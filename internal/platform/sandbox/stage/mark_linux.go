package stage

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Mark is what a confined process has as its RLIMIT_RTTIME, in microseconds: it
// names the user namespace. That limit binds processes with realtime scheduling
// only, and this one is beyond 100,000 years. Children inherit it, the filter of
// system calls keeps it, and /proc/<pid>/limits shows it to everybody, also of a
// program that may be executed and not read, which hides its namespace.
func Mark(namespace uint64) uint64 { return 1<<62 | namespace }

// mark marks this process.
func mark() error {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/user", &st); err != nil {
		return fmt.Errorf("look at the user namespace: %w", err)
	}
	var old unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &old); err != nil {
		return fmt.Errorf("look at the limit of realtime: %w", err)
	}
	m := Mark(st.Ino)
	if old.Max < m {
		return nil // somebody has limited it, and it cannot be raised
	}
	if err := unix.Prlimit(0, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: m, Max: m}, nil); err != nil {
		return fmt.Errorf("mark the command: %w", err)
	}
	return nil
}
