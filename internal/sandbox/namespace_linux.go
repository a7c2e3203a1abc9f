package sandbox

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// userNamespace gives the number of a process's user namespace, 0 when it is not
// known. It names the namespace as long as a process in it has not been reaped.
func userNamespace(pid int) uint64 {
	var st unix.Stat_t
	if unix.Stat("/proc/"+strconv.Itoa(pid)+"/ns/user", &st) != nil {
		return 0
	}
	return st.Ino
}

// namespaceOf gives the user namespace that a child was started in, 0 when it is
// the host's own.
func namespaceOf(pid int) uint64 {
	if ns := userNamespace(pid); ns != userNamespace(os.Getpid()) {
		return ns
	}
	return 0
}

// killNamespace kills every process in a user namespace that is a child's, also
// those that have left its session: none of them can leave the namespace, for a
// confined command can neither enter nor make one. With a mark, only those whose
// mounts name it. It says whether there were any. A namespace of 0 is none.
func killNamespace(ns uint64, mark string) (found bool) {
	if ns == 0 || ns == userNamespace(os.Getpid()) {
		return false
	}
	for range 8 { // who forks while we look is found by the next look
		alive := false
		for _, pid := range processes() {
			if userNamespace(pid) == ns && (mark == "" || strings.Contains(mountsOf(pid), mark)) && !isZombie(pid) {
				alive = syscall.Kill(pid, syscall.SIGKILL) == nil || alive
			}
		}
		if !alive {
			break
		}
		found = true
	}
	return found
}

func isZombie(pid int) bool {
	f, err := stat(pid)
	return err != nil || f[0] == "Z"
}

// mountsOf gives the list of mounts that a process sees, as the kernel writes it.
func mountsOf(pid int) string {
	data, err := readMountinfo("/proc/" + strconv.Itoa(pid) + "/mountinfo")
	if err != nil {
		return ""
	}
	return string(data)
}
