package kernel

// System calls (arch/x86/entry/syscalls/syscall_64.tbl).
const (
	SYS_BPF               = 321
	SYS_FINIT_MODULE      = 313
	SYS_KEXEC_FILE_LOAD   = 320
	SYS_OPEN_BY_HANDLE_AT = 304
	SYS_SECCOMP           = 317
	SYS_SETNS             = 308
	SYS_USERFAULTFD       = 323
)
