package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"scorel/internal/engine/session/health"
	"scorel/protocol"
)

// The test binary runs itself as another process: with childMode set it does
// what it names instead of running tests.
const childMode = "SESSION_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childMode) {
	case "":
		goleak.VerifyTestMain(m)
	case "hold":
		childHold()
	case "foreign":
		childForeign()
	}
}

// childHold opens a session, says how that went, and holds it until its input
// ends.
func childHold() {
	store, err := OpenStore(Config{Dir: os.Args[1]})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	log, _, err := store.Open(ctx(), protocol.SessionID(os.Args[2]))
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = log.Close()
}

func child(t *testing.T, mode string, uid uint32, args ...string) (*exec.Cmd, *bufio.Reader, io.WriteCloser) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childMode+"="+mode)
	if uid != 0 {
		dir, err := os.MkdirTemp("", "session-test")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		data, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path = filepath.Join(dir, "child")
		if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(cmd.Path, data, 0o755)); err != nil {
			t.Fatal(err)
		}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewReader(out), in
}

func TestOfTwoProcessesOneWinsAndTheOtherSaysWhoHoldsIt(t *testing.T) {
	dir := t.TempDir()
	store, err := OpenStore(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(t.Context(), protocol.Header{})
	if err != nil {
		t.Fatal(err)
	}
	id := log.ID()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	first, out, in := child(t, "hold", 0, dir, string(id))
	if line, err := out.ReadString('\n'); err != nil || line != "open\n" {
		t.Fatalf("the first says %q (%v)", line, err)
	}
	_, out2, _ := child(t, "hold", 0, dir, string(id))
	line, err := out2.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "refused:") || !strings.Contains(line, fmt.Sprintf("process %d", first.Process.Pid)) {
		t.Fatalf("the second says %q (%v), the first is process %d", line, err, first.Process.Pid)
	}
	_, _, err = store.Open(t.Context(), id)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Owner.PID != first.Process.Pid || locked.Owner.Command == "" || locked.Owner.StartedAt == 0 {
		t.Fatalf("this process gets %v", err)
	}
	if _, err := store.Delete(t.Context(), id, Beside{}); !errors.As(err, &locked) {
		t.Fatalf("deleting gives %v", err)
	}
	for sum, err := range store.List(t.Context(), Query{}) {
		if err != nil || sum.Locked == nil || sum.Locked.PID != first.Process.Pid {
			t.Fatalf("the list says %+v (%v)", sum, err)
		}
	}
	if v, _, err := store.View(t.Context(), id); err != nil {
		t.Fatalf("reading needs the lock: %v", err)
	} else if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if err := first.Wait(); err != nil {
		t.Fatal(err)
	}
	log, _, err = store.Open(t.Context(), id)
	if err != nil {
		t.Fatalf("the holder has ended, and still: %v", err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreForTheOwnerAlone(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), ".scorel")
	store, err := OpenStore(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(t.Context(), protocol.Header{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Blobs().Put(t.Context(), strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	err = filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if err == nil && info.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// childForeign opens a session with a damaged end in a folder that it cannot
// write.
func childForeign() {
	store, err := OpenStore(Config{Dir: os.Args[1]})
	if err != nil {
		fmt.Println(err)
		return
	}
	id := protocol.SessionID(os.Args[2])
	if _, err := store.Create(ctx(), protocol.Header{}); !errors.Is(err, os.ErrPermission) {
		fmt.Println("create:", err)
	}
	log, report, err := store.Open(ctx(), id)
	if err != nil {
		fmt.Println("open:", err)
		return
	}
	if ro, _ := log.ReadOnly(); !ro || !report.Has(health.Tail) {
		fmt.Println("it is not read-only:", report.Sentences())
	}
	_ = log.Close()
	v, _, err := store.View(ctx(), id)
	if err != nil {
		fmt.Println("view:", err)
		return
	}
	_ = v.Close()
	fmt.Println("end")
}

func TestAFolderThatCannotBeWrittenGivesAReadOnlySession(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("this test runs a child as another user, so it must be run as root")
	}
	dir, err := os.MkdirTemp("", "session-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	store, err := OpenStore(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Create(t.Context(), protocol.Header{})
	if err != nil {
		t.Fatal(err)
	}
	id := log.ID()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(store.path(id), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"type":"mess`); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	if err := errors.Join(f.Close(), os.Chmod(dir, 0o755), os.Chmod(store.sessions(), 0o555), os.Chown(store.path(id), nobody, nobody),
		os.Chown(strings.TrimSuffix(store.path(id), logSuffix)+lockSuffix, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	_, out, _ := child(t, "foreign", nobody, dir, string(id))
	if line, err := out.ReadString('\n'); err != nil || line != "end\n" {
		t.Fatalf("as another user: %q (%v)", line, err)
	}
	data, err := os.ReadFile(store.path(id))
	if err != nil || !strings.HasSuffix(string(data), `{"type":"mess`) {
		t.Fatalf("the damaged end was cut although it could not be kept (%v)", err)
	}
}
