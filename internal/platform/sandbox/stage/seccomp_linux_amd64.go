package stage

import "scorel/internal/platform/sandbox/stage/kernel"

const (
	auditArch = kernel.AUDIT_ARCH_X86_64
	// foreignBit marks the calls of x32 (__X32_SYSCALL_BIT in asm/unistd.h).
	foreignBit = 0x40000000
)
