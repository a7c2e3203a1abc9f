package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// Build builds programs by their import paths into an existing folder, as `make build` builds
// the one that people use: without the race detector, so that what is started often
// takes little, and with flags that let all tests of a run share what was compiled.
func Build(dir string, packages ...string) error {
	if err := Sources(); err != nil {
		return err
	}
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", dir + string(os.PathSeparator)}, packages...)
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// Sources lists every folder of the module, for a test that depends on sources which its
// package does not import. go test keeps the result of a test until a file or folder changes
// that the test has opened itself; what a program started by it has read is not seen.
func Sources() error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(root)
		if up == root {
			return errors.New("there is no go.mod above the test's folder")
		}
		root = up
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); name == ".git" || name == "node_modules" {
			return filepath.SkipDir
		}
		return nil
	})
}
