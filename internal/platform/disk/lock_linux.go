package disk

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Magic numbers of file systems whose locks another machine may not see, as in
// statfs(2).
const (
	magicNFS  = 0x6969
	magicSMB  = 0x517b
	magicSMB2 = 0xfe534d42
	magicCIFS = 0xff534d42
	magic9P   = 0x01021997
	magicFUSE = 0x65735546
)

func isRemote(f *os.File) bool {
	var st unix.Statfs_t
	for {
		err := unix.Fstatfs(int(f.Fd()), &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return true // nothing is known: be careful
		}
		return remoteMagic(uint32(st.Type))
	}
}

func selfPulse() pulse {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pid := os.Getpid()
	start, _ := processStart(pid)
	return pulse{Host: host, Boot: string(bytes.TrimSpace(boot)), PID: pid, Start: start}
}

func processRuns(pid int, start uint64) bool {
	now, ok := processStart(pid)
	return ok && now == start
}

// processStart returns field 22 of /proc/<pid>/stat, the start in clock ticks
// since boot: with the pid it names a process for the life of a boot. One that has ended
// has none.
func processStart(pid int) (uint64, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// The command in parentheses may hold spaces; fields are counted after it.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' { // it has ended, and nobody has asked how
		return 0, false
	}
	n, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return n, err == nil
}
