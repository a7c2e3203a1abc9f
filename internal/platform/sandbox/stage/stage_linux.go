package stage

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
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
		fmt.Fprintln(os.Stderr, "scorel: "+Name+" is how Scorel starts a confined command and does nothing by itself; see scorel --help")
		return 2
	}
	unix.CloseOnExec(fd)
	// Capabilities, Landlock and seccomp belong to a thread, and the thread that
	// calls execve is the one that the command becomes.
	runtime.LockOSThread()
	if err := enter(fd); err != nil {
		_, _ = unix.Write(fd, []byte(err.Error()))
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
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	return fd, err == nil && domain == unix.AF_UNIX
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
	if err := unix.Chdir(p.Dir); err != nil {
		return fmt.Errorf("the working directory %s cannot be entered in the sandbox: %w", p.Dir, err)
	}
	// The runtime's descriptors close by themselves; what the host may have left
	// open by mistake does here.
	if err := unix.CloseRange(uint(3+p.Extra), ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close stray descriptors: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
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
	if _, err := unix.Write(fd, []byte{Ready}); err != nil {
		return fmt.Errorf("the host is gone: %w", err)
	}
	if err := syscall.Exec(p.Path, p.Args, os.Environ()); err != nil {
		return fmt.Errorf("%s cannot be executed: %w", p.Path, err)
	}
	return nil
}

// receive reads until the host has closed its end for writing.
func receive(fd int) ([]byte, error) {
	buf := make([]byte, 0, 16<<10)
	for {
		if len(buf) == cap(buf) {
			if len(buf) > MaxPlan {
				return nil, fmt.Errorf("the plan of the command has more than %d bytes", MaxPlan)
			}
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := unix.Read(fd, buf[len(buf):cap(buf)])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, fmt.Errorf("read the plan of the command: %w", err)
		case n == 0 && len(buf) == 0:
			return nil, fmt.Errorf("the host is gone: %w", io.EOF)
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
		keep = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER
		if p.Namespaces { // else Landlock would not stop it outside
			keep |= 1 << unix.CAP_CHOWN
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	for c := range 64 {
		if keep>>c&1 == 1 {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // the kernel has no further one
		}
		if errors.Is(err, unix.EPERM) && keep == 0 {
			// An ordinary user without a namespace has none and, with
			// no_new_privs, gets none.
			break
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := [2]unix.CapUserData{{Effective: keep, Permitted: keep}, {}}
	if err := unix.Capset(&hdr, &data[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// raiseLoopback makes 127.0.0.1 and ::1 work in a new network namespace.
func raiseLoopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("raise the loopback: %w", err)
	}
	defer unix.Close(s)
	ifr, err := unix.NewIfreq("lo")
	if err == nil {
		ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		err = unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, ifr)
	}
	if err != nil {
		return fmt.Errorf("raise the loopback: %w", err)
	}
	return nil
}
