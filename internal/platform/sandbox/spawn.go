package sandbox

import (
	"context"
	"io"
	"os"
)

// Cmd is a child process to start.
type Cmd struct {
	Path string   // absolute, or a name to look up in PATH
	Args []string // without argv[0]
	Dir  string
	Env  []string // the whole environment, already scrubbed (see Environ)
	// Stdin may be nil: the child reads end of file at once. Wait does not wait
	// for a Read that hangs: who gives a reader that may hang closes it after Wait.
	Stdin io.Reader
	// Stdout and Stderr may be nil, or the same writer, which then gets both in
	// order through one pipe. A writer that fails ends the child by a broken pipe.
	Stdout, Stderr io.Writer
	// Extra are open in the child as descriptors 3, 4 and so on, at most 6. The
	// caller keeps and closes them.
	Extra []*os.File
}

// Spawner starts children, confined by the profile that it was made with.
type Spawner interface {
	// Start starts the child in a process group and a session of its own, so
	// without a controlling terminal. The group is recorded durably before the
	// child does anything, so that [Reap] finds it after a crash of the host.
	// Cancelling ctx ends the child: a signal TERM to the group, 5 s later KILL.
	Start(ctx context.Context, cmd Cmd) (Child, error)
}

// Child is a started child process.
type Child interface {
	PID() int
	// Wait returns when the child has ended and its output is read. Who keeps the
	// pipes open beyond its end is given 2 s; then what is left of the group is
	// killed. It may be called more than once. When what the output is written to, or the
	// input is read from, panics, the child is killed and Wait panics with that.
	Wait() Exit
	// Kill kills the whole group at once.
	Kill()
}

// Exit returns how a child ended.
type Exit struct {
	Code   int    // exit status; 128 + signal when it was killed
	Signal string // name of the signal, "" without one
	Err    error  // why the status is not known
}
