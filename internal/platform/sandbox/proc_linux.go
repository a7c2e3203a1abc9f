package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// awaitExit returns when pid has ended and leaves it a zombie.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func signalName(s syscall.Signal) string { return unix.SignalName(s) }

// BootID changes with every start of the machine.
func BootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(id))
}

// stat returns the fields of /proc/<pid>/stat from the third on: the second is the
// program's name in parentheses and may hold anything (proc_pid_stat(5)).
func stat(pid int) ([]string, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil, err
	}
	i := bytes.LastIndexByte(data, ')')
	fields := strings.Fields(string(data[i+1:]))
	if i < 0 || len(fields) < 20 {
		return nil, fmt.Errorf("/proc/%d/stat has an unknown form", pid)
	}
	return fields, nil
}

// startTime returns the start of a process in clock ticks since boot.
func startTime(pid int) (start string, zombie bool, err error) {
	f, err := stat(pid)
	if err != nil {
		return "", false, err
	}
	return f[19], f[0] == "Z", nil
}

// processes returns the ids of all processes that are seen here.
func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// members returns the living processes of a session.
func members(session int) []int {
	want := strconv.Itoa(session)
	var pids []int
	for _, pid := range processes() {
		// Most are of another session, and to ask so costs a tenth of reading a file.
		if of, err := unix.Getsid(pid); err == nil && of != session {
			continue
		}
		if f, err := stat(pid); err == nil && f[3] == want && f[0] != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killSession kills the group of the session's leader and every other group in
// the session. The caller knows that the session is its own.
func killSession(session int) {
	_ = syscall.Kill(-session, syscall.SIGKILL)
	for range 8 { // who forks while we look is found by the next look
		pids := members(session)
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// self returns a path to the running binary that holds also in other processes, and
// when the file was replaced or removed.
func self() string { return "/proc/" + strconv.Itoa(os.Getpid()) + "/exe" }

// limitAddressSpace bounds what a process may map, in bytes.
func limitAddressSpace(pid int, bytes uint64) error {
	return unix.Prlimit(pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}

// residentMemory returns the resident set of a process in bytes (proc_pid_statm(5)).
func residentMemory(pid int) uint64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	fields := bytes.Fields(data)
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}
