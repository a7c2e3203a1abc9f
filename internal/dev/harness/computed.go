package harness

import "testing"

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
