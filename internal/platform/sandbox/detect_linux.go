package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"scorel/internal/platform/sandbox/stage"
)

// minLandlock is the ABI from which Landlock alone holds writes: older ones let
// files elsewhere be cut off (truncate).
const minLandlock = 3

// Detect returns what this system can hold. It looks once a process, which takes
// about a millisecond, and may be called by several goroutines.
func Detect() Status { return detect() }

var detect = sync.OnceValue(func() Status {
	namespaces, why := probe(0)
	netns := sync.OnceValue(func() bool {
		ok, _ := probe(unix.CLONE_NEWNET)
		return ok
	})
	if !namespaces {
		netns = never
	}
	return status(namespaces, why, netns, stage.LandlockABI(), stage.HasSeccomp(), inSandbox())
})

// without is the status as it is where user namespaces are off.
func (s Status) without() Status {
	return status(false, unix.EPERM, never, s.landlock, s.seccomp, false)
}

func never() bool { return false }

// probe reports whether this process can make the namespaces of a command and use
// capabilities in them. It makes them, lets them be made private and a root be
// changed, and then fails to execute a program that does not exist.
func probe(flags uintptr) (bool, error) {
	if err := unix.MountSetattr(-1, "", 0, &unix.MountAttr{}); errors.Is(err, unix.ENOSYS) {
		return false, unix.ENOSYS
	}
	attr := namespaced(flags)
	attr.Chroot = "/"
	_, err := syscall.ForkExec("/proc/self/no-such-program", []string{"probe"}, &syscall.ProcAttr{Sys: attr})
	return errors.Is(err, syscall.ENOENT), err
}

// inSandbox reports whether this process is itself a confined command.
func inSandbox() bool {
	data, err := os.ReadFile("/proc/self/status")
	return err == nil && bytes.Contains(data, []byte("NoNewPrivs:\t1")) && bytes.Contains(data, []byte("Seccomp:\t2"))
}

// status puts together what holds and says it.
func status(namespaces bool, why error, netns func() bool, abi int, seccomp, inside bool) Status {
	s := Status{namespaces: namespaces, netns: netns, landlock: abi, seccomp: seccomp}
	var missing []string
	add := func(name string, holds bool, yes, no, advice string) {
		a := Ability{Name: name, Holds: holds, Text: yes}
		if !holds {
			a.Text, a.Advice = no, advice
			missing = append(missing, no)
		}
		s.Abilities = append(s.Abilities, a)
	}
	add("user namespaces", namespaces, "Keys, sockets and Scorel's own folder can be hidden, and the rest of the system made read-only.",
		"Without user namespaces protected files such as .git/hooks can be changed, modes and owners of files outside can be changed, "+
			"names and sizes of closed files can be seen, and D-Bus, docker and other services are closed only by taking all Unix sockets away.",
		namespaceAdvice(why, inside))
	add("Landlock", abi >= minLandlock, fmt.Sprintf("ABI %d: writes are held a second time.", abi),
		"Landlock is missing or too old: writes outside are held by read-only mounts alone.",
		"Use a kernel of version 6.2 or later with landlock in CONFIG_LSM or in the boot parameter lsm=.")
	add("Landlock scopes", abi >= 6, "A command cannot signal other processes or use their abstract sockets.",
		"A command can send signals to your other processes and use their abstract sockets.",
		"Use a kernel of version 6.12 or later.")
	add("seccomp", seccomp, "io_uring, foreign architectures, keys and new namespaces are refused.",
		"System calls cannot be filtered: io_uring and the like are open to a command.",
		"Use a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or arm64.")
	switch {
	case namespaces && len(missing) == 0:
		s.Level = Full
	case namespaces, abi >= minLandlock && seccomp:
		s.Level = Partly
		missing = append([]string{"Not fully confined."}, missing...)
	default:
		missing = []string{"Commands are not confined: what is allowed can do all that you can, with your files and keys."}
	}
	s.Missing = join(missing)
	return s
}

// namespaceAdvice returns how user namespaces may be had.
func namespaceAdvice(why error, inside bool) string {
	read := func(name string) string {
		data, _ := os.ReadFile("/proc/sys/" + name)
		return strings.TrimSpace(string(data))
	}
	switch {
	case inside:
		return "Scorel itself runs in a sandbox that forbids them; run it outside."
	case errors.Is(why, unix.ENOSYS):
		return "Use a kernel of version 5.12 or later."
	case read("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "Ubuntu restricts them: give scorel an AppArmor profile with the rule userns, or run sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0."
	case read("kernel/unprivileged_userns_clone") == "0":
		return "Run sudo sysctl kernel.unprivileged_userns_clone=1."
	case read("user/max_user_namespaces") == "0":
		return "Run sudo sysctl user.max_user_namespaces=10000."
	}
	if _, err := os.Stat("/.dockerenv"); err == nil {
		return "Docker's seccomp profile forbids them: run the container with --security-opt seccomp=unconfined, or with a profile that allows clone, unshare and mount."
	}
	if _, err := os.Stat("/run/.containerenv"); err == nil {
		return "The container forbids them: run it with --security-opt seccomp=unconfined, or with a profile that allows clone, unshare and mount."
	}
	return fmt.Sprintf("They are refused here (%v): look at sysctl user.max_user_namespaces, and at the profiles of AppArmor, SELinux or the container.", why)
}
