package harness

import (
	"fmt"
	"os"
	"os/exec"
)

// Build builds programs by their import paths into an existing folder, as `make build` builds
// the one that people use: without the race detector, so that what is started often
// takes little, and with flags that let all tests of a run share what was compiled.
func Build(dir string, packages ...string) error {
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", dir + string(os.PathSeparator)}, packages...)
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
