package sandbox

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1][0] != '-' {
		os.Exit(probe0(os.Args[1:]))
	}
	if name := os.Getenv("REMOVE_BINARY"); name != "" {
		_ = os.Remove(name)
	}
	goleak.VerifyTestMain(m)
}

// probe0 is what this binary does as a child: one thing, whose success is its
// exit status.
func probe0(args []string) int {
	var err error
	switch arg := func(i int) string { return args[i] }; args[0] {
	case "rename":
		err = os.Rename(arg(1), arg(2))
	case "utime":
		err = os.Chtimes(arg(1), time.Unix(1, 0), time.Unix(1, 0))
	case "unix":
		var c net.Conn
		if c, err = net.Dial("unix", arg(1)); err == nil {
			c.Close()
		}
	case "prlimit":
		pid, _ := strconv.Atoi(arg(1))
		var l unix.Rlimit
		if err = unix.Prlimit(pid, unix.RLIMIT_CORE, nil, &l); err == nil {
			err = unix.Prlimit(pid, unix.RLIMIT_CORE, &l, nil)
		}
	case "iouring":
		var params [120]byte // struct io_uring_params
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
		if errno != 0 {
			err = errno
		}
	case "keyctl":
		_, err = unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
	case "socket":
		family, _ := strconv.Atoi(arg(1))
		_, err = unix.Socket(family, unix.SOCK_STREAM, 0)
	case "pty":
		var f *os.File
		if f, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err == nil {
			var n uint32
			n, err = unix.IoctlGetUint32(int(f.Fd()), unix.TIOCGPTN)
			if err == nil {
				err = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCSPTLCK, 0)
			}
			if err == nil {
				_, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
			}
		}
		if err == nil {
			fmt.Println("pty")
		}
	case "net":
		return probeNet(args[1:])
	default:
		err = fmt.Errorf("unknown probe %q", args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
