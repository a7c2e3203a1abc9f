package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scorel/internal/dev/harness"
	"scorel/internal/host/daemon"
)

// patience is when a test gives up what it waits for. Only a test that fails waits so
// long, and a machine that has much else to do may need a part of it.
const patience = harness.Timeout

// station is a home with a project, on which the real program runs.
type station struct {
	t       *testing.T
	home    string
	project string
	environ []string
}

// newStation makes a home whose model plays a script. The host that a test leaves is
// ended.
func newStation(t *testing.T, script ...string) *station {
	t.Helper()
	dir, err := os.MkdirTemp("", "scorel-t") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	s := &station{t: t, home: dir, project: filepath.Join(dir, "project")}
	t.Cleanup(func() {
		s.endHost()
		_ = os.RemoveAll(dir)
	})
	s.environ = append(os.Environ(), "HOME="+dir)
	s.file("script.jsonl", "{\"script\":1}\n"+strings.Join(script, "\n")+"\n")
	s.file(".scorel/config.toml", "[model]\nname = 'script:"+filepath.Join(dir, "script.jsonl")+"'\n")
	s.file("project/a.txt", "hello\n")
	return s
}

func (s *station) file(name, text string) {
	s.t.Helper()
	name = filepath.Join(s.home, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *station) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(s.home, name))
	return err == nil
}

func (s *station) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.home, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// ended reports whether a process has ended.
func ended(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// endHost kills the host that runs, if any.
func (s *station) endHost() {
	if info, live, _ := daemon.Find(filepath.Join(s.home, ".scorel")); live && info.PID > 0 {
		_ = syscall.Kill(info.PID, syscall.SIGKILL)
		s.until("the host has ended", func() bool { _, live, _ := daemon.Find(filepath.Join(s.home, ".scorel")); return !live })
	}
}

// info returns the host that runs.
func (s *station) info() daemon.Info {
	s.t.Helper()
	info, live, err := daemon.Find(filepath.Join(s.home, ".scorel"))
	if err != nil || !live || !info.Ready() {
		s.t.Fatalf("no host runs: %v", err)
	}
	return info
}

// until waits for a condition of other processes.
func (s *station) until(what string, holds func() bool) {
	s.t.Helper()
	harness.Until(s.t, what, holds)
}

// awaits waits for a condition; what says at the end how things stand.
func (s *station) awaits(holds func() bool, what func() string) {
	s.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("waited for %v: %s", patience, what())
		}
	}
}

func (s *station) command(args ...string) *exec.Cmd {
	s.t.Helper()
	program, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Args = append([]string{"scorel"}, args...)
	cmd.Dir, cmd.Env = s.project, s.environ
	return cmd
}

// run runs a command to its end.
func (s *station) run(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	cmd := s.command(args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !late.Stop() {
		s.t.Fatalf("scorel %s has not ended within %v:\n%s%s", strings.Join(args, " "), patience, out.String(), errOut.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// ok runs a command that must work and returns what it printed.
func (s *station) ok(args ...string) string {
	s.t.Helper()
	stdout, stderr, code := s.run(args...)
	if code != 0 {
		s.t.Fatalf("scorel %s: exit code %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// fails runs a command that must fail with a code and a sentence.
func (s *station) fails(code int, sentence string, args ...string) {
	s.t.Helper()
	stdout, stderr, got := s.run(args...)
	if got != code || !strings.Contains(stderr, sentence) {
		s.t.Errorf("scorel %s: exit code %d, want %d with %q\n%s%s", strings.Join(args, " "), got, code, sentence, stdout, stderr)
	}
}

// session makes a session and returns its id.
func (s *station) session() string {
	s.t.Helper()
	s.ok("-p", "begin")
	logs, err := filepath.Glob(filepath.Join(s.home, ".scorel", "sessions", "*.jsonl"))
	if err != nil || len(logs) == 0 {
		s.t.Fatal("there is no session")
	}
	return strings.TrimSuffix(filepath.Base(logs[len(logs)-1]), ".jsonl")
}

// seat is a program that runs, with what it has printed.
type seat struct {
	s    *station
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser

	mu   sync.Mutex // guards what follows
	text string     // stdout and stderr as they came
	seen int        // what was awaited already
	more chan struct{}
	done chan struct{} // closed when the program has ended
}

// start starts a program.
func (s *station) start(args ...string) *seat {
	s.t.Helper()
	t := &seat{s: s, name: strings.Join(args, " "), cmd: s.command(args...), more: make(chan struct{}, 1), done: make(chan struct{})}
	in, err := t.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	t.in = in
	t.cmd.Stdout, t.cmd.Stderr = t, t
	if err := t.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { // ends with the program
		_ = t.cmd.Wait()
		close(t.done)
	}()
	s.t.Cleanup(func() {
		_ = t.cmd.Process.Kill()
		<-t.done
	})
	return t
}

// Write takes what the program prints.
func (t *seat) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.text += string(p)
	t.mu.Unlock()
	select {
	case t.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// sees waits until a text is printed, after those that were awaited before.
func (t *seat) sees(text string) {
	t.s.t.Helper()
	deadline := time.After(patience)
	for {
		t.mu.Lock()
		at := strings.Index(t.text[t.seen:], text)
		if at >= 0 {
			t.seen += at + len(text)
		}
		all, ended := t.text, false
		t.mu.Unlock()
		if at >= 0 {
			return
		}
		select {
		case <-t.more:
			continue
		case <-deadline:
		case <-t.done:
			t.mu.Lock()
			ended = strings.Contains(t.text[t.seen:], text)
			t.mu.Unlock()
			if ended {
				continue
			}
		}
		t.s.t.Fatalf("scorel %s did not print %q, but:\n%s", t.name, text, all)
	}
}

// seesAll waits until texts are printed, in any order, after those that were awaited
// before.
func (t *seat) seesAll(texts ...string) {
	t.s.t.Helper()
	t.mu.Lock()
	from, to := t.seen, t.seen
	t.mu.Unlock()
	for _, text := range texts {
		t.mu.Lock()
		t.seen = from
		t.mu.Unlock()
		t.sees(text)
		t.mu.Lock()
		to = max(to, t.seen)
		t.mu.Unlock()
	}
	t.mu.Lock()
	t.seen = to
	t.mu.Unlock()
}

// printed returns all that was printed.
func (t *seat) printed() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text
}

// types sends a line.
func (t *seat) types(line string) {
	t.s.t.Helper()
	if _, err := io.WriteString(t.in, line+"\n"); err != nil {
		t.s.t.Fatalf("scorel %s: %v", t.name, err)
	}
}

// ends waits for the end of the program and returns its exit code.
func (t *seat) ends() int {
	t.s.t.Helper()
	select {
	case <-t.done:
		return t.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.s.t.Fatalf("scorel %s has not ended:\n%s", t.name, t.printed())
		return 0
	}
}
