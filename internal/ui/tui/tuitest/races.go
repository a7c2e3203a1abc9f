package tuitest

import (
	"os"
	"path/filepath"
	"testing"
)

// Races returns a variable of the environment, as NAME=VALUE, with which programs that
// were built with -race write down each data race that they have. At its end, after all
// that is cleaned up for what was begun after this, the test fails with what they wrote:
// the terminal would show it to nobody.
func Races(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "races")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer os.RemoveAll(dir)
		reports, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, r := range reports {
			text, err := os.ReadFile(filepath.Join(dir, r.Name()))
			t.Errorf("a program that the test has started has a data race (%v):\n%s", err, text)
		}
	})
	return "GORACE=atexit_sleep_ms=0 log_path=" + filepath.Join(dir, "race")
}
