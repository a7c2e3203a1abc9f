package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"scorel/internal/ui/exit"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal returns both ends of a pseudo-terminal (pty(7)).
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

func TestTheQuestionOfTrustIsAskedOnATerminalAndOnlyYesIsYes(t *testing.T) {
	for answer, trusted := range map[string]bool{"y": true, "YES": true, "n": false, "": false, "yep": false, "\x04": false} {
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		project := filepath.Join(base, "project")
		if err := os.MkdirAll(project, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(project, ".mcp.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		person, program := terminal(t)
		if _, err := person.WriteString(answer + "\n"); err != nil {
			t.Fatal(err)
		}
		a := &app{stdin: program, stdout: program, stderr: program, environ: []string{"HOME=" + base}}
		code := a.run(t.Context(), []string{"trust", project})
		data, err := os.ReadFile(filepath.Join(base, ".scorel", "trust.json"))
		if got := err == nil && strings.Contains(string(data), project); got != trusted || (code == exit.OK) != trusted {
			t.Errorf("%q: trusted %v, exit %d", answer, got, code)
		}
		_ = program.Close()
		shown, _ := io.ReadAll(person) // ends with an error, when nobody has the other end
		if !strings.Contains(string(shown), ".mcp.json") || !strings.Contains(string(shown), "Trust these files? [y/N]") {
			t.Errorf("%q: shown was %q", answer, shown)
		}
	}
}
