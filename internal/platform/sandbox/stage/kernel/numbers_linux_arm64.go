package kernel

// System calls (asm-generic/unistd.h).
const (
	SYS_BPF               = 280
	SYS_FINIT_MODULE      = 273
	SYS_KEXEC_FILE_LOAD   = 294
	SYS_OPEN_BY_HANDLE_AT = 265
	SYS_SECCOMP           = 277
	SYS_SETNS             = 268
	SYS_USERFAULTFD       = 282
)
