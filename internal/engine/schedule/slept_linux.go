package schedule

import (
	"time"

	"golang.org/x/sys/unix"
)

// slept returns how far CLOCK_BOOTTIME, which goes on while the device sleeps, is ahead of
// CLOCK_MONOTONIC, which does not.
func slept() time.Duration {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0 // an old kernel; the wall clock still shows that time has passed
	}
	return time.Duration(boot.Nano() - mono.Nano())
}
