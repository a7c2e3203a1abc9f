package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func bash(script string, out io.Writer) Cmd {
	return Cmd{Path: "bash", Args: []string{"--noprofile", "--norc", "-c", script}, Dir: "/",
		Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: out, Stderr: out}
}

func run(t *testing.T, s Spawner, c Cmd) Exit {
	t.Helper()
	child, err := s.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return child.Wait()
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	_, zombie, err := startTime(pid)
	return err == nil && !zombie
}

func waitDead(t *testing.T, pid int) {
	t.Helper()
	waitFor(t, func() bool { return !alive(pid) })
}

// testTimeout is when a test gives up what it waits for. Only a test that fails waits so
// long, and a machine that has much else to do may need a part of it.
const testTimeout = 2 * time.Minute

// waitFor polls a condition of other processes.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(testTimeout)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %v", testTimeout)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// line reads one line from r.
func line(t *testing.T, r io.Reader) string {
	t.Helper()
	var b [1]byte
	var s strings.Builder
	for {
		if _, err := r.Read(b[:]); err != nil {
			t.Fatalf("after %q: %v", s.String(), err)
		}
		if b[0] == '\n' {
			return s.String()
		}
		s.WriteByte(b[0])
	}
}

func TestChildGivesOutputInOrderAndExitStatus(t *testing.T) {
	dir := t.TempDir()
	s := New(Config{RunDir: filepath.Join(dir, "run")})
	for _, c := range []struct {
		name, script, out string
		exit              Exit
	}{
		{"both streams keep their order", "echo a; echo b >&2; echo c", "a\nb\nc\n", Exit{}},
		{"status", "exit 7", "", Exit{Code: 7}},
		{"signal", "kill -USR1 $$", "", Exit{Code: 128 + int(syscall.SIGUSR1), Signal: "SIGUSR1"}},
		{"stdin is at its end", "cat; echo end", "end\n", Exit{}},
		{"no terminal can be opened", "(: < /dev/tty) 2>/dev/null || echo none", "none\n", Exit{}},
		{"the gate is closed", "(: <&3) 2>/dev/null || echo closed", "closed\n", Exit{}},
		{"the environment is what was given", "env | grep -vE '^(PATH|PWD|SHLVL|OLDPWD|_)='", "", Exit{Code: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if exit := run(t, s, bash(c.script, &out)); exit != c.exit {
				t.Errorf("exit %+v, want %+v", exit, c.exit)
			}
			if out.String() != c.out {
				t.Errorf("output %q, want %q", out.String(), c.out)
			}
		})
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "run")); len(left) > 0 {
		t.Errorf("records are left: %v", left)
	}
}

func TestStdinAndExtraDescriptorsReachTheChild(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out bytes.Buffer
	c := bash("cat; echo extra >&3", &out)
	c.Stdin, c.Extra = strings.NewReader("input\n"), []*os.File{w}
	if exit := run(t, New(Config{}), c); exit.Code != 0 {
		t.Fatalf("%+v: %s", exit, out.String())
	}
	w.Close()
	extra, _ := io.ReadAll(r)
	if out.String() != "input\n" || string(extra) != "extra\n" {
		t.Errorf("got %q and %q", out.String(), extra)
	}
}

func TestStartFailsForWhatCannotRun(t *testing.T) {
	s := New(Config{})
	for name, c := range map[string]Cmd{
		"no program": {Path: "no-such-program-here", Dir: "/"},
		"no folder":  {Path: "true", Dir: "/no/such/folder"},
		"too many":   {Path: "true", Dir: "/", Extra: make([]*os.File, 7)},
	} {
		if _, err := s.Start(t.Context(), c); err == nil {
			t.Errorf("%s: started", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Start(ctx, bash("true", nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

func TestCancelEndsGrandchildrenToo(t *testing.T) {
	for name, script := range map[string]string{
		"in the group":         `sleep 1000 & echo $!; wait`,
		"in a group of theirs": `set -m; sleep 1000 & echo $!; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			r, w := io.Pipe()
			child, err := New(Config{}).Start(ctx, bash(script, w))
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(line(t, r))
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			if exit := child.Wait(); exit.Code == 0 {
				t.Errorf("exit %+v", exit)
			}
			waitDead(t, pid)
		})
	}
}

func TestChildThatIgnoresTermIsKilled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	child, err := New(Config{}).Start(ctx, bash(`trap '' TERM; echo ready; while :; do sleep 1000; done`, w))
	if err != nil {
		t.Fatal(err)
	}
	line(t, r)
	cancel()
	if exit := child.Wait(); exit.Signal != "SIGKILL" {
		t.Errorf("exit %+v", exit)
	}
}

func TestBackgroundChildThatKeepsThePipeDoesNotHangWait(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	start := time.Now()
	exit := run(t, New(Config{}), bash(`sleep 1000 & echo $!`, &out))
	if exit.Code != 0 {
		t.Errorf("exit %+v", exit)
	}
	if took := time.Since(start); took < pipeGrace {
		t.Errorf("the pipe's holder had %v", took)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(out.String()))
	waitDead(t, pid)
}

func TestBackgroundChildWithoutThePipeEndsWithTheCommand(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	run(t, New(Config{}), bash(`sleep 1000 >/dev/null 2>&1 & echo $!`, &out))
	pid, _ := strconv.Atoi(strings.TrimSpace(out.String()))
	waitDead(t, pid)
}

func TestChildOutsideTheSessionDoesNotHangWait(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	run(t, New(Config{}), bash(`setsid sleep 1000 & echo $!`, &out))
	var pid int
	if _, err := fmt.Sscan(out.String(), &pid); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// slow takes longer for its first piece than a child may hold its pipes.
type slow struct {
	bytes.Buffer
	waited bool
}

func (s *slow) Write(p []byte) (int, error) {
	if !s.waited {
		s.waited = true
		<-time.After(pipeGrace + pipeGrace/4)
	}
	return s.Buffer.Write(p)
}

// ReadFrom hides the buffer's own, which would go around Write.
func (s *slow) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{s}, r)
}

func TestSlowWriterLosesNothing(t *testing.T) {
	t.Parallel()
	var out slow
	run(t, New(Config{}), bash("head -c 60000 /dev/zero", &out))
	if out.Len() != 60_000 {
		t.Errorf("%d bytes came", out.Len())
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriterThatFailsEndsTheChild(t *testing.T) {
	if exit := run(t, New(Config{}), bash("exec yes", failing{})); exit.Signal != "SIGPIPE" && exit.Code != 1 {
		t.Errorf("exit %+v", exit)
	}
}

func TestGroupIsRecordedBeforeTheChildActs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run", "ses")
	var out bytes.Buffer
	exit := run(t, New(Config{RunDir: dir}), bash("cat "+dir+"/$$; stat -c %a "+dir+"/$$", &out))
	if exit.Code != 0 || !strings.Contains(out.String(), `"pgid":`) || !strings.HasSuffix(out.String(), "600\n") {
		t.Errorf("%+v %s", exit, out.String())
	}
}

func TestNothingRunsWhenTheGroupCannotBeRecorded(t *testing.T) {
	dir := t.TempDir()
	file, made := filepath.Join(dir, "file"), filepath.Join(dir, "made")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{RunDir: file}).Start(t.Context(), bash("touch "+made, nil)); err == nil {
		t.Fatal("started")
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("the child has acted")
	}
}

// survivor starts what a dead host would have left and returns the pid of its
// leader, and of the grandchild that the leader names.
func survivor(t *testing.T, dir, script string) (leader, grandchild int) {
	t.Helper()
	cmd := exec.Command("bash", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	r, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe() // the leader waits for it, so that it can be recorded
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	leader = cmd.Process.Pid
	if _, err := writeRecord(dir, leader, 0, ""); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	if _, err := fmt.Fscan(r, &grandchild); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	if strings.Contains(script, "exit") {
		<-ended
	}
	t.Cleanup(func() { killSession(leader); <-ended })
	return leader, grandchild
}

func TestReapEndsSurvivors(t *testing.T) {
	for name, script := range map[string]string{
		"leader alive": "read x; sleep 1000 >/dev/null & echo $!; wait",
		"leader gone":  "read x; sleep 1000 >/dev/null & echo $!; exit",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, grandchild := survivor(t, dir, script)
			n, err := Reap(dir)
			if n != 1 || err != nil {
				t.Errorf("Reap gives %d, %v", n, err)
			}
			waitDead(t, grandchild)
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("records are left: %v", left)
			}
		})
	}
}

func TestReapSparesAnotherProcessWithTheSamePID(t *testing.T) {
	for name, damage := range map[string]func(record string) string{
		"other start": func(r string) string { return strings.Replace(r, `"start":"`, `"start":"9`, 1) },
		"other boot":  func(r string) string { return strings.Replace(r, `"boot":"`, `"boot":"x`, 1) },
		"unreadable":  func(r string) string { return r[:len(r)/2] },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			leader, _ := survivor(t, dir, "read x; sleep 1000 >/dev/null & echo $!; wait")
			file := filepath.Join(dir, strconv.Itoa(leader))
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(damage(string(data))), 0o600); err != nil {
				t.Fatal(err)
			}
			if n, err := Reap(dir); n != 0 || err != nil {
				t.Errorf("Reap gives %d, %v", n, err)
			}
			if !alive(leader) {
				t.Error("the process was killed")
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("records are left: %v", left)
			}
		})
	}
}

func TestReapInACopySparesWhatTheOriginalRuns(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	leader, grandchild := survivor(t, dir, "read x; sleep 1000 >/dev/null & echo $!; wait")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if n, err := Reap(copied); n != 0 || err != nil {
		t.Errorf("Reap of the copy gives %d, %v", n, err)
	}
	if !alive(leader) {
		t.Error("the process was killed")
	}
	moved := dir + " moved" // it is the same folder still
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if n, err := Reap(moved); n != 1 || err != nil {
		t.Errorf("Reap gives %d, %v", n, err)
	}
	waitDead(t, grandchild)
	if err := os.RemoveAll(moved); err != nil {
		t.Error(err)
	}
}

func TestReapOfAMissingFolderIsNothing(t *testing.T) {
	if n, err := Reap(filepath.Join(t.TempDir(), "none")); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestEnvironDropsWhatWouldHandOverTheHost(t *testing.T) {
	got := Environ([]string{"PATH=/bin", "SCOREL_TOKEN=x", "MY_KEY=x", "SSH_AUTH_SOCK=/s", "OPENAI_API_KEY=x", "LANG=C", "broken", "=x"},
		func(name string) bool { return name == "MY_KEY" })
	if want := "PATH=/bin LANG=C"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func BenchmarkStart(b *testing.B) {
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			_ = exec.Command("/bin/true").Run()
		}
	})
	b.Run("spawner", func(b *testing.B) {
		s := New(Config{RunDir: b.TempDir()})
		for b.Loop() {
			child, err := s.Start(b.Context(), Cmd{Path: "/bin/true", Dir: "/"})
			if err != nil {
				b.Fatal(err)
			}
			child.Wait()
		}
	})
}
