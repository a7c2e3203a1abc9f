package tuitest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// witness is a test that notes how it fails.
type witness struct {
	testing.TB
	cleanups []func()
	said     string
}

func (w *witness) Cleanup(f func())                  { w.cleanups = append(w.cleanups, f) }
func (w *witness) Errorf(format string, args ...any) { w.said += fmt.Sprintf(format, args...) }

func TestADataRaceOfAProgramFailsTheTestThatStartedIt(t *testing.T) {
	for script, want := range map[string]string{
		`echo "WARNING: DATA RACE of mine" >"${GORACE##*log_path=}.17"`: "DATA RACE of mine",
		"true": "",
	} {
		w := &witness{TB: t}
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Env = []string{Races(w)}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
		for _, f := range w.cleanups {
			f()
		}
		if !strings.Contains(w.said, want) || (want == "") != (w.said == "") {
			t.Errorf("%s: the test says %q", script, w.said)
		}
	}
}
