package kernel

import (
	"syscall"
	"unsafe"
)

// What system calls are given, as the kernel has it.
type (
	// MountAttr is struct mount_attr.
	MountAttr struct{ Attr_set, Attr_clr, Propagation, Userns_fd uint64 }
	// OpenHow is struct open_how.
	OpenHow struct{ Flags, Mode, Resolve uint64 }
	// LandlockRulesetAttr is struct landlock_ruleset_attr as ABI 6 has it.
	LandlockRulesetAttr struct{ Handled_access_fs, Handled_access_net, Scoped uint64 }
	// LandlockPathBeneathAttr is struct landlock_path_beneath_attr.
	LandlockPathBeneathAttr struct {
		Allowed_access uint64
		Parent_fd      int32
	}
	// CapUserHeader is struct __user_cap_header_struct.
	CapUserHeader struct {
		Version uint32
		Pid     int32 // 0: the calling thread
	}
	// CapUserData is struct __user_cap_data_struct.
	CapUserData struct{ Effective, Permitted, Inheritable uint32 }
)

// ifreq is struct ifreq with flags.
type ifreq struct {
	name  [syscall.IFNAMSIZ]byte
	flags uint16
	_     [22]byte
}

// failed returns the error of a system call.
func failed(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// Prctl is prctl(2).
func Prctl(option int, arg2, arg3, arg4, arg5 uintptr) error {
	_, _, errno := syscall.Syscall6(syscall.SYS_PRCTL, uintptr(option), arg2, arg3, arg4, arg5, 0)
	return failed(errno)
}

// Prlimit is prlimit(2) of this process: it sets a limit unless set is nil, and returns the
// old one in old unless that is nil.
func Prlimit(resource int, set, old *syscall.Rlimit) error {
	_, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, 0, uintptr(resource), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 0, 0)
	return failed(errno)
}

// Capset is capset(2), with as many parts of data as the version of the header has.
func Capset(header *CapUserHeader, data *[2]CapUserData) error {
	_, _, errno := syscall.Syscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(header)), uintptr(unsafe.Pointer(data)), 0)
	return failed(errno)
}

// CloseRange is close_range(2).
func CloseRange(first, last uint, flags int) error {
	_, _, errno := syscall.Syscall(SYS_CLOSE_RANGE, uintptr(first), uintptr(last), uintptr(flags))
	return failed(errno)
}

// Openat2 is openat2(2).
func Openat2(dir int, path string, how *OpenHow) (fd int, err error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	r, _, errno := syscall.Syscall6(SYS_OPENAT2, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(how)), unsafe.Sizeof(*how), 0, 0)
	return descriptor(r, errno)
}

// descriptor returns what a system call that opens something has returned.
func descriptor(r uintptr, errno syscall.Errno) (int, error) {
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}

// OpenTree is open_tree(2).
func OpenTree(dir int, path string, flags uint) (fd int, err error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	r, _, errno := syscall.Syscall(SYS_OPEN_TREE, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(flags))
	return descriptor(r, errno)
}

// MoveMount is move_mount(2).
func MoveMount(fromDir int, from string, toDir int, to string, flags int) error {
	f, err := syscall.BytePtrFromString(from)
	if err != nil {
		return err
	}
	t, err := syscall.BytePtrFromString(to)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(SYS_MOVE_MOUNT, uintptr(fromDir), uintptr(unsafe.Pointer(f)), uintptr(toDir), uintptr(unsafe.Pointer(t)), uintptr(flags), 0)
	return failed(errno)
}

// MountSetattr is mount_setattr(2).
func MountSetattr(dir int, path string, flags uint, attr *MountAttr) error {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(SYS_MOUNT_SETATTR, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(flags), uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr), 0)
	return failed(errno)
}

// Fsopen is fsopen(2).
func Fsopen(kind string, flags int) (fd int, err error) {
	k, err := syscall.BytePtrFromString(kind)
	if err != nil {
		return -1, err
	}
	r, _, errno := syscall.Syscall(SYS_FSOPEN, uintptr(unsafe.Pointer(k)), uintptr(flags), 0)
	return descriptor(r, errno)
}

// Fsmount is fsmount(2).
func Fsmount(fd, flags, attrs int) (mount int, err error) {
	r, _, errno := syscall.Syscall(SYS_FSMOUNT, uintptr(fd), uintptr(flags), uintptr(attrs))
	return descriptor(r, errno)
}

// FsconfigSetString sets an option of a new file system.
func FsconfigSetString(fd int, key, value string) error {
	k, err := syscall.BytePtrFromString(key)
	if err != nil {
		return err
	}
	v, err := syscall.BytePtrFromString(value)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(SYS_FSCONFIG, uintptr(fd), FSCONFIG_SET_STRING, uintptr(unsafe.Pointer(k)), uintptr(unsafe.Pointer(v)), 0, 0)
	return failed(errno)
}

// FsconfigCreate makes a new file system of its options.
func FsconfigCreate(fd int) error {
	_, _, errno := syscall.Syscall6(SYS_FSCONFIG, uintptr(fd), FSCONFIG_CMD_CREATE, 0, 0, 0, 0)
	return failed(errno)
}

// SetLinkFlags sets the flags of a network interface, through any socket.
func SetLinkFlags(socket int, name string, flags uint16) error {
	r := ifreq{flags: flags}
	if len(name) >= len(r.name) {
		return syscall.EINVAL
	}
	copy(r.name[:], name)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&r)))
	return failed(errno)
}
