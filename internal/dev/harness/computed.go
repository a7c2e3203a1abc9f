package harness

import (
	"hash/fnv"
	"os"
	"testing"
)

// Computed leaves a test out under the race detector. It is for one in which nothing runs side
// by side: the detector finds nothing there, and makes it six times as long. Such a test
// calls it in its first line, by which the step "computed without the race detector" of
// scripts/test.sh finds it and runs it.
func Computed(t testing.TB) {
	t.Helper()
	if Raced {
		t.Skip("nothing runs side by side here, so it is computed without the race detector")
	}
}

// Plain returns the program of a package's tests that scripts/test.sh has built without the race
// detector and named in a variable, for a test that starts it as scorel: that takes a fifth of the
// time. It is "" where the test starts its own program: without the detector, where none is
// named, and for each fourth name, so that the detector sees whole programs too.
func Plain(name, variable string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	if !Raced || sum.Sum32()%4 == 0 {
		return ""
	}
	return os.Getenv(variable)
}
