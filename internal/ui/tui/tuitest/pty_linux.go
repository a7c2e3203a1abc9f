package tuitest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// PTY is a program on a pseudo-terminal (pty(7)).
type PTY struct {
	*os.File // the person's side: what is written is typed, what is read was shown
	Cmd      *exec.Cmd
}

// OpenPTY returns both sides of a pseudo-terminal of a size in cells. The caller closes
// them.
func OpenPTY(width, height int) (person, program *os.File, err error) {
	person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			_ = person.Close()
		}
	}()
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, fmt.Errorf("the number of the pseudo-terminal: %w", err)
	}
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, fmt.Errorf("unlock the pseudo-terminal: %w", err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := size(person, width, height); err != nil {
		_ = program.Close()
		return nil, nil, err
	}
	return person, program, nil
}

func size(f *os.File, width, height int) error {
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(width), Row: uint16(height)}); err != nil {
		return fmt.Errorf("the size of the terminal: %w", err)
	}
	return nil
}

// StartPTY starts a program on a terminal that is its controlling one. Whoever reads
// takes all that comes: the program waits when nobody does.
func StartPTY(cmd *exec.Cmd, width, height int) (*PTY, error) {
	person, program, err := OpenPTY(width, height)
	if err != nil {
		return nil, err
	}
	defer program.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		_ = person.Close()
		return nil, err
	}
	return &PTY{File: person, Cmd: cmd}, nil
}

// Resize sets another size of the terminal; the program gets SIGWINCH.
func (p *PTY) Resize(width, height int) error { return size(p.File, width, height) }

// Close hangs up, kills the program when it does not end by that, and waits for it.
func (p *PTY) Close() error {
	_ = p.Cmd.Process.Kill()
	err := p.Cmd.Wait()
	_ = p.File.Close()
	return err
}
