//go:build race

package sandbox

import "os"

// program returns the binary that tests start for a stage or a helper, "" for the running one.
// With the race detector the start of a process takes five times as long, and a stage has one
// thread: scripts/test.sh names a program without it, internal/dev/child. A test whose own
// program is to be started takes the variable away.
func program() string { return os.Getenv("SCOREL_TEST_CHILD") }
