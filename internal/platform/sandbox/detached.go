package sandbox

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// Detached starts a program of the person that lives on when this one ends, such as the
// browser: in a session of its own, without input and output. Nothing confines, records
// or ends it, so it is for nothing that a model or a project names. It fails when the
// program cannot be started, or has ended with a failure within wait.
func Detached(c Cmd, wait time.Duration) error {
	path, err := lookPath(c.Path, c.Dir, nil)
	if err != nil {
		return fmt.Errorf("start %s: %w", c.Path, err)
	}
	cmd := exec.Command(path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, append([]string{}, c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.Path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the program
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case err = <-ended:
	case <-late.C:
	}
	if err != nil {
		return fmt.Errorf("%s failed: %w", c.Path, err)
	}
	return nil
}
