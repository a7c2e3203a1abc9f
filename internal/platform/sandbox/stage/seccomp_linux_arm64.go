package stage

import "scorel/internal/platform/sandbox/stage/kernel"

const (
	auditArch  = kernel.AUDIT_ARCH_AARCH64
	foreignBit = 0
)
