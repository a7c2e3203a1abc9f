package stage

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// HasSeccomp reports whether system calls can be filtered here.
func HasSeccomp() bool {
	if auditArch == 0 {
		return false
	}
	action := uint32(unix.SECCOMP_RET_KILL_PROCESS)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}

// seccomp filters the system calls of this thread.
func seccomp(p *Plan) error {
	if !HasSeccomp() {
		if p.Namespaces && p.Network != NetworkNone && !p.NoUnix {
			return nil // a second wall; Detect says that it is missing
		}
		return errors.New("this kernel cannot filter system calls")
	}
	prog := filter(p)
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&fprog)), 0, 0); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return nil
}

// Offsets in struct seccomp_data (linux/seccomp.h) on a little-endian machine.
const (
	dataNr   = 0
	dataArch = 4
	dataArgs = 16
)

func argLow(i int) uint32  { return dataArgs + 8*uint32(i) }
func argHigh(i int) uint32 { return argLow(i) + 4 }

// program is a filter under construction. The accumulator holds the number of
// the system call before and after each rule.
type program []unix.SockFilter

func (f *program) op(code uint16, jt, jf uint8, k uint32) {
	*f = append(*f, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (f *program) load(off uint32) { f.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, off) }

func (f *program) ret(v uint32) { f.op(unix.BPF_RET|unix.BPF_K, 0, 0, v) }

func (f *program) equal(k uint32, jt, jf uint8) {
	f.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, jt, jf, k)
}

func fails(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// refuse makes a system call fail.
func (f *program) refuse(nr uint32, errno unix.Errno) {
	f.equal(nr, 0, 1)
	f.ret(fails(errno))
}

// refuseIf makes a system call fail by rules about its arguments: body falls
// through to a return, and jumps after itself to let the call pass.
func (f *program) refuseIf(nr uint32, errno unix.Errno, body func(b *program)) {
	var b program
	body(&b)
	f.equal(nr, 0, uint8(len(b)+2))
	*f = append(*f, b...)
	f.ret(fails(errno))
	f.load(dataNr)
}

// filter returns the rules. What is not named is allowed.
//
// Refused as if the kernel had no such call (ENOSYS), so that programs use what
// they did before: io_uring, whose requests no filter sees; clone3, whose flags
// are in memory. Refused as forbidden: new user namespaces and whatever needs
// one, which only widen what a command can attack in the kernel; keys, BPF,
// performance counters, userfaultfd, modules, kexec, handles that lead around
// mounts; limits of other processes, by which the host could be killed; typing
// into a terminal (TIOCSTI). Sockets of other families than Unix, IP and netlink
// do not exist: AF_VSOCK leads out of a network namespace, others are seldom
// used and often broken. ptrace stays: a command's own children may be debugged,
// others are guarded by the user namespace and Landlock.
func filter(p *Plan) []unix.SockFilter {
	var f program
	f.load(dataArch)
	f.equal(auditArch, 1, 0)
	f.ret(unix.SECCOMP_RET_KILL_PROCESS)
	f.load(dataNr)
	if foreignBit != 0 { // x32 shares the architecture
		f.op(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, 1, foreignBit)
		f.ret(fails(unix.ENOSYS))
	}
	for _, nr := range [...]uint32{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3} {
		f.refuse(nr, unix.ENOSYS)
	}
	for _, nr := range [...]uint32{unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
		unix.SYS_USERFAULTFD, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT,
		unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_CHROOT,
		unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD} {
		f.refuse(nr, unix.EPERM)
	}
	for _, nr := range [...]uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		f.refuseIf(nr, unix.EPERM, func(b *program) {
			b.load(argLow(0))
			b.op(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, unix.CLONE_NEWUSER)
		})
	}
	for _, code := range [...]uint32{unix.TIOCSTI, unix.TIOCLINUX} {
		f.refuseIf(unix.SYS_IOCTL, unix.EPERM, func(b *program) {
			b.load(argLow(1))
			b.equal(code, 0, 1)
		})
	}
	f.refuseIf(unix.SYS_PRLIMIT64, unix.EPERM, func(b *program) {
		b.load(argLow(0))
		b.equal(0, 5, 0) // its own limits
		b.load(argLow(2))
		b.equal(0, 0, 2)
		b.load(argHigh(2))
		b.equal(0, 1, 0) // only asks
	})
	f.refuseIf(unix.SYS_PRLIMIT64, unix.EPERM, func(b *program) { // see Mark
		b.load(argLow(1))
		b.equal(unix.RLIMIT_RTTIME, 0, 5)
		b.load(argLow(2))
		b.equal(0, 0, 2)
		b.load(argHigh(2))
		b.equal(0, 1, 0) // only asks
	})
	f.refuseIf(unix.SYS_SETRLIMIT, unix.EPERM, func(b *program) {
		b.load(argLow(0))
		b.equal(unix.RLIMIT_RTTIME, 0, 1)
	})
	families := p.families()
	f.refuseIf(unix.SYS_SOCKET, unix.EAFNOSUPPORT, func(b *program) {
		b.load(argLow(0))
		for i, family := range families {
			b.equal(family, uint8(len(families)-i), 0)
		}
	})
	f.ret(unix.SECCOMP_RET_ALLOW)
	return f
}

// families are the kinds of sockets that a command may make.
func (p *Plan) families() []uint32 {
	var list []uint32
	if !p.NoUnix {
		list = append(list, unix.AF_UNIX)
	}
	if p.Network != NetworkNone {
		list = append(list, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
	}
	return list
}
