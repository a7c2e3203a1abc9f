package program

import (
	"os"
	"runtime/debug"
	"testing"

	"scorel/internal/platform/sandbox"
)

// TestNothingOfAProgramIsOpenWhenItHasEnded: the collector of garbage, which closes what was
// forgotten, does not run.
func TestNothingOfAProgramIsOpenWhenItHasEnded(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	run := func() {
		for range 5 {
			out, err := Output(t.Context(), sandbox.Helper{Path: "cat", Env: os.Environ(), Dir: t.TempDir()}, []byte("some text"), 4)
			if string(out) != "some" || err != nil {
				t.Fatalf("%q, %v", out, err)
			}
		}
	}
	run()
	before := descriptors()
	run()
	if after := descriptors(); after > before {
		t.Errorf("%d descriptors were open, and %d after 5 programs more", before, after)
	}
}

// descriptors counts what this process has open; 0 where the system does not say.
func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}
