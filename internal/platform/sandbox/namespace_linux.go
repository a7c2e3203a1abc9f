package sandbox

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"scorel/internal/platform/sandbox/stage"
)

// userNamespace returns the number of a process's user namespace, 0 when it is not
// known. It names the namespace as long as a process in it has not been reaped.
func userNamespace(pid int) uint64 {
	var st unix.Stat_t
	if unix.Stat("/proc/"+strconv.Itoa(pid)+"/ns/user", &st) != nil {
		return 0
	}
	return st.Ino
}

// namespaceOf returns the user namespace that a child was started in, 0 when it is
// the host's own.
func namespaceOf(pid int) uint64 {
	if ns := userNamespace(pid); ns != userNamespace(os.Getpid()) {
		return ns
	}
	return 0
}

// Bounds of the hunt for what is left in a namespace.
const (
	maxHunt  = 10 * time.Second     // while there is somebody
	maxQuiet = 32                   // looks in a row that see nobody new: a death that hangs in the system, or others vanish
	quietest = 2 * time.Millisecond // more before each of these looks: who was killed needs a processor to end
	newest   = 64                   // numbers below the newest that are tried before each look
	bursts   = 256                  // such tries in a row that find somebody
)

// killNamespace kills every process in a user namespace that is a child's, also
// those that have left its session: none of them can leave the namespace, for a
// confined command can neither enter nor make one. With a mark, only those whose
// mounts name it. It reports whether there were any. A namespace of 0 is none;
// leader is known to have ended, or 0.
//
// A process may fork and end while it is looked for, and its child do the same:
// so it is over only when a look finds nobody alive, nobody who has ended since
// the look before, and nobody gone who was listed. Newer processes have higher
// numbers as a rule; they are looked at first, right after the listing.
func killNamespace(ns uint64, mark string, leader int) (found bool) {
	if ns == 0 || ns == userNamespace(os.Getpid()) {
		return false
	}
	type look struct {
		pid  int
		dead bool
	}
	known := map[look]bool{{leader, true}: true}
	until := time.Now().Add(maxHunt)
	for quiet := 0; quiet < maxQuiet && time.Now().Before(until); quiet++ {
		if mark == "" {
			found = killNewest(ns) || found
		}
		calm := true
		pids := processes()
		slices.Sort(pids)
		for _, pid := range slices.Backward(pids) {
			in := namespaceOrMark(pid, ns)
			if in != ns {
				calm = calm && (in != 0 || exists(pid))
				continue
			}
			at := look{pid, isZombie(pid)}
			if !at.dead {
				if mark != "" && !strings.Contains(mountsOf(pid), mark) {
					continue
				}
				found = killIn(pid, ns) || found // again, if it has not ended yet
				calm = false
			}
			if !known[at] {
				known[at], calm, quiet = true, false, 0
			}
		}
		if calm {
			break
		}
		time.Sleep(time.Duration(quiet) * quietest)
	}
	return found
}

// killNewest kills those of a namespace that have just begun, until a try finds nobody. Who
// forks and ends all the time is gone before a whole list of processes is read; the newest
// number, and with it theirs, is known at once.
func killNewest(ns uint64) (found bool) {
	for range bursts {
		last := newestProcess()
		killed := false
		for pid := last; pid > max(0, last-newest); pid-- {
			killed = killIn(pid, ns) || killed
		}
		if !killed {
			break
		}
		found = true
	}
	return found
}

// newestProcess returns the number that was given last, 0 when it is not known
// (proc_loadavg(5): the fifth field).
func newestProcess() int {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 5 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[4])
	return pid
}

// namespaceOrMark returns the user namespace of a process; where that is not shown
// to this user, ns if the process has its mark.
func namespaceOrMark(pid int, ns uint64) uint64 {
	in := userNamespace(pid)
	if in != 0 || syscall.Kill(pid, 0) != nil { // what cannot be signalled is another user's
		return in
	}
	limits, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err == nil && strings.Contains(string(limits), " "+strconv.FormatUint(stage.Mark(ns), 10)+" ") {
		return ns
	}
	return 0
}

// killIn kills a process if it is in the namespace, and reports whether it was and had not
// ended: who has ended stays there until its parent knows. While the handle is open its
// number is that of nobody else.
func killIn(pid int, ns uint64) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return namespaceOrMark(pid, ns) == ns && !isZombie(pid) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

func exists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func isZombie(pid int) bool {
	f, err := stat(pid)
	return err != nil || f[0] == "Z"
}

// mountsOf returns the list of mounts that a process sees, as the kernel writes it.
func mountsOf(pid int) string {
	data, err := readMountinfo("/proc/" + strconv.Itoa(pid) + "/mountinfo")
	if err != nil {
		return ""
	}
	return string(data)
}
