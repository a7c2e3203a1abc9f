//go:build race

package sandbox

import "os"

// With the race detector the start of a process takes five times as long, and a stage has one
// thread: scripts/test.sh names a program without it, internal/dev/child.
func init() { program = os.Getenv("SCOREL_TEST_CHILD") }
