package node

import "golang.org/x/sys/unix"

func machineMemory() (total, free float64) {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 0, 0
	}
	return float64(s.Totalram) * float64(s.Unit), float64(s.Freeram) * float64(s.Unit)
}

func uptime() float64 {
	var s unix.Sysinfo_t
	_ = unix.Sysinfo(&s)
	return float64(s.Uptime)
}

func loadAverage() [3]float64 {
	var s unix.Sysinfo_t
	_ = unix.Sysinfo(&s)
	return [3]float64{float64(s.Loads[0]) / 65536, float64(s.Loads[1]) / 65536, float64(s.Loads[2]) / 65536}
}
