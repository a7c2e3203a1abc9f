package sandbox

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// awaitExit returns when pid has ended and leaves it a zombie.
func awaitExit(pid int) {
	kq, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(kq)
	ev := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD, Fflags: unix.NOTE_EXIT}}
	for {
		n, err := unix.Kevent(kq, ev, ev, nil)
		if n > 0 || (err != nil && err != unix.EINTR) {
			return // ended, or ended before it could be watched
		}
	}
}

func signalName(s syscall.Signal) string { return unix.SignalName(s) }

// BootID changes with every start of the machine.
func BootID() string {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return ""
	}
	return fmt.Sprint(t.Sec)
}

const zombieState = 5 // SZOMB in sys/proc.h

// startTime returns the start of a process.
func startTime(pid int) (start string, zombie bool, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return "", false, err
	}
	t := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", t.Sec, t.Usec), info.Proc.P_stat == zombieState, nil
}

// members returns the living processes of a group; sessions are not listed here.
func members(group int) []int {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.pgrp", group)
	if err != nil {
		return nil
	}
	var pids []int
	for _, i := range infos {
		if i.Proc.P_stat != zombieState {
			pids = append(pids, int(i.Proc.P_pid))
		}
	}
	return pids
}

// killSession kills the group of the session's leader.
func killSession(session int) { _ = syscall.Kill(-session, syscall.SIGKILL) }

// There are no user namespaces here.
func namespaceOf(int) uint64                 { return 0 }
func killNamespace(uint64, string, int) bool { return false }

// self returns a path to the running binary.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// limitAddressSpace does nothing: the system does not keep such a limit.
func limitAddressSpace(int, uint64) error { return nil }

// residentMemory is not known without cgo.
func residentMemory(int) uint64 { return 0 }
