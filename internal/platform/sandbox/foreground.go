package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Foreground is a program of the person that gets the terminal while it runs, such as an
// editor.
type Foreground struct {
	Argv    []string // a path, or a name to look up in PATH, and its arguments
	Env     []string // the whole environment
	Dir     string
	In, Out *os.File // the terminal
}

// Run runs the program to its end, unconfined: it is the person's own, with all that the
// person's shell would give it. Nothing of a model, a project or a session decides what
// runs.
func (f Foreground) Run() error {
	if len(f.Argv) == 0 {
		return errors.New("no program is named")
	}
	cmd := exec.Command(f.Argv[0], f.Argv[1:]...)
	cmd.Env, cmd.Dir = f.Env, f.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f.In, f.Out, f.Out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("there is no program %s", f.Argv[0])
	case errors.As(err, &exit):
		return fmt.Errorf("%s: %s", f.Argv[0], exit)
	}
	return err
}
