package sandboxtest

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is the uid and gid of the ordinary user.
const nobody = 65534

// marker is set for the test binary that runs as the ordinary user.
const marker = "TEST_AS_ORDINARY_USER"

// AsUser runs fn as a user to whom file permissions apply, with an empty folder
// of that user. Root runs the calling test again in a child with uid 65534,
// from a copy of the test binary that this user can reach; fn then runs there
// and only its outcome comes back. Call it once, at the end of a test: what
// is before it runs in both processes.
func AsUser(t *testing.T, fn func(t *testing.T, dir string)) {
	t.Helper()
	if os.Geteuid() != 0 || os.Getenv(marker) != "" {
		dir := os.Getenv(marker)
		if dir == "" {
			dir = t.TempDir()
		}
		fn(t, dir)
		return
	}
	base, err := os.MkdirTemp("", "user") // not t.TempDir: its parents are closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	home := filepath.Join(base, "home")
	for _, step := range []error{
		os.Chmod(base, 0o755), os.Mkdir(home, 0o700), os.Chown(home, nobody, nobody),
		copyFile(filepath.Join(base, "test"), "/proc/self/exe"),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	var parts []string // -test.run splits at slashes
	for part := range strings.SplitSeq(t.Name(), "/") {
		parts = append(parts, "^"+part+"$")
	}
	cmd := exec.Command(filepath.Join(base, "test"), "-test.run="+strings.Join(parts, "/"), "-test.v", "-test.count=1")
	cmd.Dir = home
	cmd.Env = append(os.Environ(), marker+"="+home, "HOME="+home, "TMPDIR="+home, "GOCOVERDIR="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as uid %d: %v\n%s", nobody, err, out)
	}
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}
