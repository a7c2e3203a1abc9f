//go:build race

package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// program returns the binary that tests start for a stage or a helper, "" for the running one.
// With the race detector the start of a process takes five times as long, and a stage has one
// thread: scripts/test.sh names a program without it, internal/dev/child. A test whose own
// program is to be started takes the variable away; one that runs as another user, who cannot
// reach what it names, starts its own too.
func program() string {
	name := os.Getenv("SCOREL_TEST_CHILD")
	if name == "" || unix.Access(name, unix.X_OK) != nil {
		return ""
	}
	return name
}
