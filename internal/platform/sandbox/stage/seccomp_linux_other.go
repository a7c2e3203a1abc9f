//go:build linux && !amd64 && !arm64

package stage

// No filter is written for this architecture.
const (
	auditArch  = 0
	foreignBit = 0
)
