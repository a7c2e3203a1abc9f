//go:build amd64 || arm64

package stage

import (
	"errors"
	"syscall"
	"unsafe"

	"scorel/internal/platform/sandbox/stage/kernel"
)

// HasSeccomp reports whether system calls can be filtered here.
func HasSeccomp() bool {
	action := uint32(kernel.SECCOMP_RET_KILL_PROCESS)
	_, _, errno := syscall.Syscall(kernel.SYS_SECCOMP, kernel.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}

// seccomp filters the system calls of this thread.
func seccomp(p *Plan) error {
	if !HasSeccomp() {
		if needsSeccomp(p) {
			return errors.New("this kernel cannot filter system calls")
		}
		return nil // a second wall; Detect says that it is missing
	}
	prog := filter(p)
	fprog := syscall.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if err := kernel.Prctl(syscall.PR_SET_SECCOMP, kernel.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&fprog)), 0, 0); err != nil {
		return failed(err, "filter system calls")
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
type program []syscall.SockFilter

func (f *program) op(code uint16, jt, jf uint8, k uint32) {
	*f = append(*f, syscall.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (f *program) load(off uint32) { f.op(syscall.BPF_LD|syscall.BPF_W|syscall.BPF_ABS, 0, 0, off) }

func (f *program) ret(v uint32) { f.op(syscall.BPF_RET|syscall.BPF_K, 0, 0, v) }

func (f *program) equal(k uint32, jt, jf uint8) {
	f.op(syscall.BPF_JMP|syscall.BPF_JEQ|syscall.BPF_K, jt, jf, k)
}

func fails(errno syscall.Errno) uint32 { return kernel.SECCOMP_RET_ERRNO | uint32(errno) }

// refuse makes a system call fail.
func (f *program) refuse(nr uint32, errno syscall.Errno) {
	f.equal(nr, 0, 1)
	f.ret(fails(errno))
}

// refuseIf makes a system call fail by rules about its arguments: body falls
// through to a return, and jumps after itself to let the call pass.
func (f *program) refuseIf(nr uint32, errno syscall.Errno, body func(b *program)) {
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
func filter(p *Plan) []syscall.SockFilter {
	var f program
	f.load(dataArch)
	f.equal(auditArch, 1, 0)
	f.ret(kernel.SECCOMP_RET_KILL_PROCESS)
	f.load(dataNr)
	if foreignBit != 0 { // x32 shares the architecture
		f.op(syscall.BPF_JMP|syscall.BPF_JGE|syscall.BPF_K, 0, 1, foreignBit)
		f.ret(fails(syscall.ENOSYS))
	}
	for _, nr := range [...]uint32{kernel.SYS_IO_URING_SETUP, kernel.SYS_IO_URING_ENTER, kernel.SYS_IO_URING_REGISTER, kernel.SYS_CLONE3} {
		f.refuse(nr, syscall.ENOSYS)
	}
	for _, nr := range [...]uint32{syscall.SYS_KEYCTL, syscall.SYS_ADD_KEY, syscall.SYS_REQUEST_KEY, kernel.SYS_BPF, syscall.SYS_PERF_EVENT_OPEN,
		kernel.SYS_USERFAULTFD, syscall.SYS_KEXEC_LOAD, kernel.SYS_KEXEC_FILE_LOAD, syscall.SYS_INIT_MODULE, kernel.SYS_FINIT_MODULE, syscall.SYS_DELETE_MODULE,
		kernel.SYS_OPEN_BY_HANDLE_AT, kernel.SYS_SETNS, syscall.SYS_MOUNT, syscall.SYS_UMOUNT2, syscall.SYS_PIVOT_ROOT, kernel.SYS_MOVE_MOUNT,
		kernel.SYS_OPEN_TREE, kernel.SYS_FSOPEN, kernel.SYS_FSMOUNT, kernel.SYS_FSPICK, kernel.SYS_MOUNT_SETATTR, syscall.SYS_CHROOT,
		syscall.SYS_REBOOT, syscall.SYS_SWAPON, syscall.SYS_SWAPOFF, syscall.SYS_ACCT, syscall.SYS_QUOTACTL, kernel.SYS_QUOTACTL_FD} {
		f.refuse(nr, syscall.EPERM)
	}
	for _, nr := range [...]uint32{syscall.SYS_CLONE, syscall.SYS_UNSHARE} {
		f.refuseIf(nr, syscall.EPERM, func(b *program) {
			b.load(argLow(0))
			b.op(syscall.BPF_JMP|syscall.BPF_JSET|syscall.BPF_K, 0, 1, kernel.CLONE_NEWUSER)
		})
	}
	for _, code := range [...]uint32{syscall.TIOCSTI, syscall.TIOCLINUX} {
		f.refuseIf(syscall.SYS_IOCTL, syscall.EPERM, func(b *program) {
			b.load(argLow(1))
			b.equal(code, 0, 1)
		})
	}
	f.refuseIf(syscall.SYS_PRLIMIT64, syscall.EPERM, func(b *program) {
		b.load(argLow(0))
		b.equal(0, 5, 0) // its own limits
		b.load(argLow(2))
		b.equal(0, 0, 2)
		b.load(argHigh(2))
		b.equal(0, 1, 0) // only asks
	})
	f.refuseIf(syscall.SYS_PRLIMIT64, syscall.EPERM, func(b *program) { // see Mark
		b.load(argLow(1))
		b.equal(kernel.RLIMIT_RTTIME, 0, 5)
		b.load(argLow(2))
		b.equal(0, 0, 2)
		b.load(argHigh(2))
		b.equal(0, 1, 0) // only asks
	})
	f.refuseIf(syscall.SYS_SETRLIMIT, syscall.EPERM, func(b *program) {
		b.load(argLow(0))
		b.equal(kernel.RLIMIT_RTTIME, 0, 1)
	})
	families := p.families()
	f.refuseIf(syscall.SYS_SOCKET, syscall.EAFNOSUPPORT, func(b *program) {
		b.load(argLow(0))
		for i, family := range families {
			b.equal(family, uint8(len(families)-i), 0)
		}
	})
	f.ret(kernel.SECCOMP_RET_ALLOW)
	return f
}

// families are the kinds of sockets that a command may make.
func (p *Plan) families() []uint32 {
	var list []uint32
	if !p.NoUnix {
		list = append(list, syscall.AF_UNIX)
	}
	if p.Network != NetworkNone {
		list = append(list, syscall.AF_INET, syscall.AF_INET6, syscall.AF_NETLINK)
	}
	return list
}
