package script_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"scorel/internal/engine/model/script"
)

// TestAPipeThatNobodyWritesToIsNotWaitedFor: a host reads the scripts that clients name.
func TestAPipeThatNobodyWritesToIsNotWaitedFor(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := script.Load(name); err == nil {
		t.Error("a pipe without a writer is taken for a script")
	}
}
