package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func helper(t *testing.T, h Helper, script string) *HelperProcess {
	t.Helper()
	h.Path, h.Args, h.Dir = "bash", []string{"--noprofile", "--norc", "-c", script}, "/"
	h.Env = append(h.Env, "PATH="+os.Getenv("PATH"))
	p, err := StartHelper(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); _ = p.Wait() })
	return p
}

func TestHelperIsRecordedWhileItRunsAndSpeaksOverPipes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run", "ses")
	p := helper(t, Helper{Record: dir, Env: []string{"A=b"}}, `cat "`+dir+`/$$" >&2; echo "$A"; read x; echo "got $x"; exit 3`)
	out := bufio.NewReader(p.Stdout)
	if s, err := out.ReadString('\n'); s != "b\n" {
		t.Fatalf("%q, %v", s, err)
	}
	if _, err := io.WriteString(p.Stdin, "word\n"); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if string(rest) != "got word\n" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	record, err := io.ReadAll(p.Stderr)
	if !strings.Contains(string(record), `"pgid":`+strconv.Itoa(p.PID())) || err != nil {
		t.Errorf("it saw the record %q, %v", record, err)
	}
	var failed *exec.ExitError
	if err := p.Wait(); !errors.As(err, &failed) || p.Exit().Code != 3 {
		t.Errorf("it ended with %v, %+v", err, p.Exit())
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("records are left: %v", left)
	}
}

func TestHelperOfADeadHostIsReaped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	p := helper(t, Helper{Record: dir}, "echo; sleep 1000")
	line(t, p.Stdout)
	if n, err := Reap(dir); n != 1 || err != nil {
		t.Errorf("Reap gives %d, %v", n, err)
	}
	if err := p.Wait(); err == nil {
		t.Error("it ended well")
	}
}

func TestEndOfAHelperEndsWhatItStarted(t *testing.T) {
	for name, end := range map[string]func(*HelperProcess, context.CancelFunc){
		"killed":         func(p *HelperProcess, _ context.CancelFunc) { p.Kill() },
		"context":        func(_ *HelperProcess, cancel context.CancelFunc) { cancel() },
		"ends by itself": func(p *HelperProcess, _ context.CancelFunc) { p.Stdin.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p, err := StartHelper(ctx, Helper{Path: "bash", Args: []string{"-c", "set -m; sleep 1000 & echo $!; read x"}, Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH")}})
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(line(t, p.Stdout))
			if err != nil {
				t.Fatal(err)
			}
			end(p, cancel)
			_ = p.Wait()
			waitDead(t, pid)
			if _, err := io.ReadAll(p.Stdout); err != nil {
				t.Errorf("its output ends with %v", err)
			}
		})
	}
}

func TestWhoLeavesTheSessionOfAHelperDoesNotHoldItsReader(t *testing.T) {
	p := helper(t, Helper{}, "setsid sleep 1000 & echo $!")
	pid, err := strconv.Atoi(line(t, p.Stdout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	if _, err := io.ReadAll(p.Stdout); !errors.Is(err, os.ErrDeadlineExceeded) && err != nil {
		t.Errorf("%v", err)
	}
}

func TestKillOfAHelperInsideSparesTheSession(t *testing.T) {
	p := helper(t, Helper{Inside: true}, "sleep 1000 & echo $!; wait")
	pid, err := strconv.Atoi(line(t, p.Stdout))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sessionOf(t, p.PID()), sessionOf(t, os.Getpid()); got != want {
		t.Errorf("its session is %s, and ours %s", got, want)
	}
	p.Kill() // would end this test if it were the session
	_ = p.Wait()
	waitDead(t, pid)
}

func sessionOf(t *testing.T, pid int) string {
	t.Helper()
	out, err := exec.Command("ps", "-o", "sess=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestAddressSpaceOfAHelperIsBounded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system keeps no such limit")
	}
	p := helper(t, Helper{AddressSpace: 1 << 30}, "ulimit -v")
	if got := line(t, p.Stdout); got != strconv.Itoa(1<<20) {
		t.Errorf("the limit is %s KiB", got)
	}
}

func TestMemoryOfAHelperIsSeen(t *testing.T) {
	p := helper(t, Helper{}, "echo; read x")
	line(t, p.Stdout)
	if m := p.Memory(); runtime.GOOS == "linux" && (m < 1<<18 || m > 1<<28) {
		t.Errorf("a bash holds %d bytes", m)
	}
	p.Stdin.Close()
	_ = p.Wait()
	if m := p.Memory(); m != 0 {
		t.Errorf("who has ended holds %d bytes", m)
	}
}

func TestHelperDoesNotStartWhatCannotRun(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx context.Context
		h   Helper
	}{
		"no program":    {t.Context(), Helper{Path: "no-such-program-here", Dir: "/"}},
		"no folder":     {t.Context(), Helper{Path: "true", Dir: "/no/such/folder"}},
		"too many":      {t.Context(), Helper{Path: "true", Dir: "/", Extra: make([]*os.File, maxExtra+1)}},
		"ended context": {ended, Helper{Path: "true", Dir: "/"}},
	} {
		if _, err := StartHelper(c.ctx, c.h); err == nil {
			t.Errorf("%s: started", name)
		}
	}
}

// TestHelperOfTheRunningBinary starts this test again, as the child of extensions is.
func TestHelperOfTheRunningBinary(t *testing.T) {
	const marker = "TEST_HELPER_BINARY=1"
	if os.Getenv("TEST_HELPER_BINARY") != "" {
		_, _ = os.Stdout.WriteString("here\n")
		return
	}
	t.Setenv("SCOREL_TEST_CHILD", "")
	p, err := StartHelper(t.Context(), Helper{Args: []string{"-test.run=^TestHelperOfTheRunningBinary$"}, Env: []string{marker}, Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	if got := line(t, p.Stdout); got != "here" {
		t.Errorf("it says %q", got)
	}
	p.Stdin.Close()
	_, _ = io.Copy(io.Discard, p.Stdout)
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}

func BenchmarkStartHelper(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "run")
	for b.Loop() {
		p, err := StartHelper(b.Context(), Helper{Path: "/bin/true", Dir: "/", Record: dir})
		if err != nil {
			b.Fatal(err)
		}
		_ = p.Wait()
	}
}

func TestAHelperThatDoesNotSeeTheEndOfItsHostIsEndedSoonAfter(t *testing.T) {
	p := helper(t, Helper{}, "sleep 1000 & echo $!; wait")
	child, err := strconv.Atoi(line(t, p.Stdout))
	if err != nil {
		t.Fatal(err)
	}
	p.alive.Close() // as the end of this process would
	if exit := p.Exit(); exit.Signal == "" {
		t.Errorf("it ended with %+v", exit)
	}
	waitDead(t, child)
}

func TestNothingOfAHelperIsLeftThatEndsByItself(t *testing.T) {
	p := helper(t, Helper{}, "exit 3")
	if exit := p.Exit(); exit.Code != 3 {
		t.Errorf("it ended with %+v", exit)
	}
	if left := members(p.PID()); len(left) > 0 {
		t.Errorf("in its session are left %v", left)
	}
}

func TestHelperIsRecordedAfterItsStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run", "ses")
	p := helper(t, Helper{}, `read x`)
	if err := p.RecordIn(dir); err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(p.PID())))
	if !strings.Contains(string(record), `"pgid":`+strconv.Itoa(p.PID())) || err != nil {
		t.Errorf("the record is %q, %v", record, err)
	}
	p.Kill()
	_ = p.Wait()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("records are left: %v", left)
	}
	if err := p.RecordIn(dir); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("one that has ended: %v", err)
	}
}
