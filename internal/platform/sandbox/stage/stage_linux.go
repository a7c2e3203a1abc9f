package stage

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"scorel/internal/platform/sandbox/stage/kernel"
)

// refused is the exit status of a stage that did not get as far as the command.
const refused = 125

func init() {
	if len(os.Args) >= 2 && os.Args[1] == Name {
		os.Exit(run(os.Args[2:]))
	}
}

// run is the stage. It returns only when the command was not executed.
func run(args []string) int {
	fd, ok := inherited(args)
	if !ok {
		os.Stderr.WriteString("scorel: " + Name + " is how Scorel starts a confined command and does nothing by itself; see scorel --help\n")
		return 2
	}
	syscall.CloseOnExec(fd)
	// Capabilities, Landlock and seccomp belong to a thread, and the thread that
	// calls execve is the one that the command becomes.
	runtime.LockOSThread()
	if err := enter(fd); err != nil {
		_, _ = syscall.Write(fd, []byte(err.Error()))
	}
	return refused
}

// inherited returns the socket that the host left open.
func inherited(args []string) (fd int, ok bool) {
	if len(args) != 1 {
		return 0, false
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil || fd < 3 {
		return 0, false
	}
	domain, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_DOMAIN)
	return fd, err == nil && domain == syscall.AF_UNIX
}

// enter carries out the plan that comes on fd. The host sends it when the
// process is recorded, so waiting for it holds the command back.
func enter(fd int) error {
	data, err := receive(fd)
	if err != nil {
		return err
	}
	p, err := Decode(data)
	if err != nil {
		return err
	}
	if p.Network == NetworkLoopback {
		if err := raiseLoopback(); err != nil {
			return err
		}
	}
	if p.Namespaces {
		if err := mark(); err != nil {
			return err
		}
		if err := mounts(p); err != nil {
			return err
		}
	}
	if err := syscall.Chdir(p.Dir); err != nil {
		return failed(err, "the working directory ", p.Dir, " cannot be entered in the sandbox")
	}
	// The runtime's descriptors close by themselves; what the host may have left
	// open by mistake does here.
	if err := kernel.CloseRange(uint(3+p.Extra), ^uint(0)>>1, kernel.CLOSE_RANGE_CLOEXEC); err != nil {
		return failed(err, "close stray descriptors")
	}
	if err := kernel.Prctl(kernel.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return failed(err, "set no_new_privs")
	}
	if err := dropCapabilities(p); err != nil {
		return err
	}
	if err := landlock(p); err != nil {
		return err
	}
	if err := seccomp(p); err != nil {
		return err
	}
	if _, err := syscall.Write(fd, []byte{Ready}); err != nil {
		return failed(err, "the host is gone")
	}
	if err := syscall.Exec(p.Path, p.Args, os.Environ()); err != nil {
		return failed(err, p.Path, " cannot be executed")
	}
	return nil
}

// receive reads until the host has closed its end for writing.
func receive(fd int) ([]byte, error) {
	buf := make([]byte, 0, 16<<10)
	for {
		if len(buf) == cap(buf) {
			if len(buf) > MaxPlan {
				return nil, errTooLong
			}
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := syscall.Read(fd, buf[len(buf):cap(buf)])
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return nil, failed(err, "read the plan of the command")
		case n == 0 && len(buf) == 0:
			return nil, errors.New("the host is gone")
		case n == 0:
			return buf, nil
		default:
			buf = buf[:len(buf)+n]
		}
	}
}

// dropCapabilities empties every set of this thread, but for the capabilities
// about files where the plan asks for them.
func dropCapabilities(p *Plan) error {
	var keep uint32
	if p.FileCaps {
		keep = 1<<kernel.CAP_DAC_OVERRIDE | 1<<kernel.CAP_FOWNER
		if p.Namespaces { // else Landlock would not stop it outside
			keep |= 1 << kernel.CAP_CHOWN
		}
	}
	if err := kernel.Prctl(kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return failed(err, "clear ambient capabilities")
	}
	for c := range 64 {
		if keep>>c&1 == 1 {
			continue
		}
		err := kernel.Prctl(syscall.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if errors.Is(err, syscall.EINVAL) {
			break // the kernel has no further one
		}
		if errors.Is(err, syscall.EPERM) && keep == 0 {
			// An ordinary user without a namespace has none and, with
			// no_new_privs, gets none.
			break
		}
		if err != nil {
			return failed(err, "drop capability ", strconv.Itoa(c))
		}
	}
	hdr := kernel.CapUserHeader{Version: kernel.LINUX_CAPABILITY_VERSION_3}
	data := [2]kernel.CapUserData{{Effective: keep, Permitted: keep}, {}}
	if err := kernel.Capset(&hdr, &data); err != nil {
		return failed(err, "drop capabilities")
	}
	return nil
}

// needsSeccomp reports whether a plan cannot be held without a filter of system calls.
func needsSeccomp(p *Plan) bool { return !p.Namespaces || p.Network == NetworkNone || p.NoUnix }

// raiseLoopback makes 127.0.0.1 and ::1 work in a new network namespace.
func raiseLoopback() error {
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return failed(err, "raise the loopback")
	}
	defer syscall.Close(s)
	if err := kernel.SetLinkFlags(s, "lo", syscall.IFF_UP|syscall.IFF_RUNNING); err != nil {
		return failed(err, "raise the loopback")
	}
	return nil
}
