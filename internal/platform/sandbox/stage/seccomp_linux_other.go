//go:build linux && !amd64 && !arm64

package stage

import "errors"

// HasSeccomp reports whether system calls can be filtered here. No filter is written for
// this architecture.
func HasSeccomp() bool { return false }

func seccomp(p *Plan) error {
	if needsSeccomp(p) {
		return errors.New("system calls cannot be filtered on this architecture")
	}
	return nil
}
