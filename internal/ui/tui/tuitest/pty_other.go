//go:build !linux

package tuitest

import (
	"errors"
	"os"
	"os/exec"
)

// PTY is a program on a pseudo-terminal; there is one on Linux only.
type PTY struct {
	*os.File
	Cmd *exec.Cmd
}

// OpenPTY fails here.
func OpenPTY(width, height int) (person, program *os.File, err error) {
	return nil, nil, errors.ErrUnsupported
}

// StartPTY fails here.
func StartPTY(cmd *exec.Cmd, width, height int) (*PTY, error) { return nil, errors.ErrUnsupported }

// Resize fails here.
func (p *PTY) Resize(width, height int) error { return errors.ErrUnsupported }

// Close fails here.
func (p *PTY) Close() error { return errors.ErrUnsupported }
