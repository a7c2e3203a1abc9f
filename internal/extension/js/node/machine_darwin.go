package node

import (
	"time"

	"golang.org/x/sys/unix"
)

func machineMemory() (total, free float64) {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, 0
	}
	return float64(n), 0
}

func uptime() float64 {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return 0
	}
	return time.Since(time.Unix(t.Unix())).Seconds()
}

func loadAverage() [3]float64 { return [3]float64{} }
