package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scorel/internal/platform/sandbox"
)

// TestACommandCannotLeaveBashInAFolderThatNoneCanEnter: the folder exists for
// the host and not for what it starts.
func TestACommandCannotLeaveBashInAFolderThatNoneCanEnter(t *testing.T) {
	if s := sandbox.Detect(); s.Level == sandbox.Unconfined {
		t.Logf("nothing is confined here: %s", s.Missing)
		return
	}
	b := backgroundBench(t)
	hidden := filepath.Join(b.reach, "sessions")
	if err := os.Mkdir(hidden, 0o700); err != nil {
		t.Fatal(err)
	}
	temp, err := sandbox.NewTemp(b.out, "ses_test")
	if err != nil {
		t.Fatal(err)
	}
	defer temp.Close()
	b.env.Spawn = sandbox.New(sandbox.Config{Profile: &sandbox.Profile{Mode: sandbox.WorkspaceWrite, Network: true, Home: filepath.Dir(b.reach),
		Closed: []string{b.reach}, Roots: []string{b.root}, TempDir: temp.Dir}})
	for _, background := range []bool{false, true} {
		b.ok("Bash", in{"command": "trap - EXIT; echo '" + hidden + "' >&3"})
		b.fails("Bash", in{"command": "pwd", "run_in_background": background}, "the next command runs in "+b.root)
		if text := b.ok("Bash", in{"command": "pwd"}); !strings.HasPrefix(text, b.root+"\n") {
			t.Errorf("%q", text)
		}
	}
}
