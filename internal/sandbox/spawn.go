package sandbox

import (
	"context"
	"io"
)

// Cmd is a child process to start.
type Cmd struct {
	Path string   // absolute, or a name to look up in PATH
	Args []string // without argv[0]
	Dir  string
	Env  []string // the whole environment, already scrubbed (see Environ)
	// Stdin may be nil: the child reads end of file at once.
	Stdin io.Reader
	// Stdout and Stderr may be nil, or the same writer, which then gets both in
	// order through one pipe.
	Stdout, Stderr io.Writer
}

// Spawner starts children. It is the seam behind which confinement is added.
type Spawner interface {
	// Start starts the child in a process group of its own. It records the group
	// durably (for the clean-up after a crash of the host) before it returns.
	// Cancelling ctx ends the child: a signal TERM to the group, 5 s later KILL.
	Start(ctx context.Context, cmd Cmd) (Child, error)
}

// Child is a started child process.
type Child interface {
	PID() int
	// Wait returns when the child has ended and its output is read. A child that
	// keeps the pipes open beyond its end is given 2 s, then the group is killed.
	Wait() Exit
	// Kill kills the whole group at once.
	Kill()
}

// Exit says how a child ended.
type Exit struct {
	Code   int    // exit status; 128 + signal when it was killed
	Signal string // name of the signal, "" without one
	Err    error  // why the status is not known
}
