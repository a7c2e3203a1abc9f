package kernel

// System calls whose numbers are the same everywhere (asm-generic/unistd.h).
const (
	SYS_CLONE3                  = 435
	SYS_CLOSE_RANGE             = 436
	SYS_FSCONFIG                = 431
	SYS_FSMOUNT                 = 432
	SYS_FSOPEN                  = 430
	SYS_FSPICK                  = 433
	SYS_IO_URING_ENTER          = 426
	SYS_IO_URING_REGISTER       = 427
	SYS_IO_URING_SETUP          = 425
	SYS_LANDLOCK_ADD_RULE       = 445
	SYS_LANDLOCK_CREATE_RULESET = 444
	SYS_LANDLOCK_RESTRICT_SELF  = 446
	SYS_MOUNT_SETATTR           = 442
	SYS_MOVE_MOUNT              = 429
	SYS_OPENAT2                 = 437
	SYS_OPEN_TREE               = 428
	SYS_QUOTACTL_FD             = 443
)

// Architectures, as the filter of system calls is told them (linux/audit.h).
const (
	AUDIT_ARCH_AARCH64 = 0xc00000b7
	AUDIT_ARCH_X86_64  = 0xc000003e
)

// Capabilities (linux/capability.h).
const (
	CAP_CHOWN                  = 0x0
	CAP_DAC_OVERRIDE           = 0x1
	CAP_FOWNER                 = 0x3
	LINUX_CAPABILITY_VERSION_3 = 0x20080522
)

// Commands of prctl (linux/prctl.h).
const (
	PR_CAP_AMBIENT           = 0x2f
	PR_CAP_AMBIENT_CLEAR_ALL = 0x4
	PR_SET_NO_NEW_PRIVS      = 0x26
)

// The filter of system calls (linux/seccomp.h).
const (
	SECCOMP_GET_ACTION_AVAIL = 0x2
	SECCOMP_MODE_FILTER      = 0x2
	SECCOMP_RET_ALLOW        = 0x7fff0000
	SECCOMP_RET_ERRNO        = 0x50000
	SECCOMP_RET_KILL_PROCESS = 0x80000000
)

// Landlock (linux/landlock.h).
const (
	LANDLOCK_ACCESS_FS_MAKE_BLOCK       = 0x800
	LANDLOCK_ACCESS_FS_MAKE_CHAR        = 0x40
	LANDLOCK_ACCESS_FS_MAKE_DIR         = 0x80
	LANDLOCK_ACCESS_FS_MAKE_FIFO        = 0x400
	LANDLOCK_ACCESS_FS_MAKE_REG         = 0x100
	LANDLOCK_ACCESS_FS_MAKE_SOCK        = 0x200
	LANDLOCK_ACCESS_FS_MAKE_SYM         = 0x1000
	LANDLOCK_ACCESS_FS_READ_DIR         = 0x8
	LANDLOCK_ACCESS_FS_READ_FILE        = 0x4
	LANDLOCK_ACCESS_FS_REFER            = 0x2000
	LANDLOCK_ACCESS_FS_REMOVE_DIR       = 0x10
	LANDLOCK_ACCESS_FS_REMOVE_FILE      = 0x20
	LANDLOCK_ACCESS_FS_TRUNCATE         = 0x4000
	LANDLOCK_ACCESS_FS_WRITE_FILE       = 0x2
	LANDLOCK_CREATE_RULESET_VERSION     = 0x1
	LANDLOCK_RULE_PATH_BENEATH          = 0x1
	LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET = 0x1
	LANDLOCK_SCOPE_SIGNAL               = 0x2
)

// Mounts (linux/mount.h).
const (
	FSCONFIG_CMD_CREATE     = 0x6
	FSCONFIG_SET_STRING     = 0x1
	FSMOUNT_CLOEXEC         = 0x1
	FSOPEN_CLOEXEC          = 0x1
	MOUNT_ATTR_NODEV        = 0x4
	MOUNT_ATTR_NOEXEC       = 0x8
	MOUNT_ATTR_NOSUID       = 0x2
	MOUNT_ATTR_RDONLY       = 0x1
	MOVE_MOUNT_F_EMPTY_PATH = 0x4
	MOVE_MOUNT_T_EMPTY_PATH = 0x40
	OPEN_TREE_CLOEXEC       = 0x80000
	OPEN_TREE_CLONE         = 0x1
)

// Opening and closing of files (linux/fcntl.h, linux/openat2.h, linux/close_range.h).
const (
	AT_EMPTY_PATH       = 0x1000
	AT_FDCWD            = -0x64
	AT_RECURSIVE        = 0x8000
	CLOSE_RANGE_CLOEXEC = 0x4
	O_PATH              = 0x200000
	RESOLVE_NO_SYMLINKS = 0x4
)

// Others (asm-generic/resource.h, linux/sched.h).
const (
	CLONE_NEWUSER = 0x10000000
	RLIMIT_RTTIME = 0xf
)
