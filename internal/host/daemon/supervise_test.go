package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child is what the test binary does as the host of a supervisor: it adds a line to a file, and
// ends as it was told.
func child(args []string) int {
	f, err := os.OpenFile(args[0], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 99
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	_, _ = fmt.Fprintln(f, os.Getpid())
	_ = f.Close()
	data, _ := os.ReadFile(args[0])
	runs := strings.Count(string(data), "\n")
	switch args[1] {
	case "waits": // for a signal
		<-signals
		return 0
	case "stays": // whatever comes
		select {}
	}
	codes := strings.Split(args[1], ",") // of each run, the last one of all further ones
	code, _ := strconv.Atoi(codes[min(runs, len(codes))-1])
	return code
}

// supervised is a supervisor in a test.
type supervised struct {
	t       *testing.T
	runs    string
	signals chan os.Signal
	ended   chan error
	cfg     Supervision
}

func supervising(t *testing.T, does string) *supervised {
	t.Helper()
	dir := home(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &supervised{t: t, runs: filepath.Join(filepath.Dir(dir), "runs"), signals: make(chan os.Signal, 2), ended: make(chan error, 1)}
	s.cfg = Supervision{Dir: dir, Program: program, Args: []string{"child", s.runs, does}, Environ: append(os.Environ(), "GOCOVERDIR="+t.TempDir()), Signals: s.signals, Now: time.Now,
		first: time.Millisecond, most: 4 * time.Millisecond, rapid: time.Hour, grace: time.Hour}
	return s
}

func (s *supervised) start() { go func() { s.ended <- Supervise(s.t.Context(), s.cfg) }() }

func (s *supervised) end() error {
	s.t.Helper()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(2 * time.Minute):
		s.t.Fatal("the supervisor does not end")
		return nil
	}
}

// count returns how often the host was started.
func (s *supervised) count() int {
	data, _ := os.ReadFile(s.runs)
	return strings.Count(string(data), "\n")
}

func (s *supervised) await(runs int) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); s.count() < runs; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("there were %d runs, not %d", s.count(), runs)
		}
	}
}

func (s *supervised) log() string {
	data, _ := os.ReadFile(Log(s.cfg.Dir))
	return string(data)
}

func TestAHostThatFailsIsStartedAgainUntilThatIsOfNoUse(t *testing.T) {
	s := supervising(t, "3")
	s.start()
	err := s.end()
	if !Permanent(err) || !strings.Contains(err.Error(), "has ended 5 times in a row within 1h0m0s of its start (exit status 3)") || s.count() != 5 {
		t.Errorf("%d runs: %v", s.count(), err)
	}
	for _, delay := range []string{"1ms", "2ms", "4ms"} {
		if !strings.Contains(s.log(), "supervisor: the host has ended (exit status 3); it is started again in "+delay+"\n") {
			t.Errorf("no delay of %s:\n%s", delay, s.log())
		}
	}
	if strings.Contains(s.log(), "in 8ms") || !strings.Contains(s.log(), "supervisor: not started again: ") {
		t.Error(s.log())
	}
}

func TestALongRunBeginsTheCountAgain(t *testing.T) {
	s := supervising(t, "3,3,3,3,3,3,3,0")
	s.cfg.rapid = time.Nanosecond
	s.start()
	if err := s.end(); err != nil || s.count() != 8 {
		t.Errorf("%d runs: %v", s.count(), err)
	}
	if strings.Contains(s.log(), "again in 2ms") {
		t.Error(s.log())
	}
}

func TestAHostThatWasStoppedOrCannotRunIsNotStartedAgain(t *testing.T) {
	s := supervising(t, "0")
	s.start()
	if err := s.end(); err != nil || s.count() != 1 {
		t.Errorf("%d runs: %v", s.count(), err)
	}
	s = supervising(t, strconv.Itoa(PermanentExit))
	s.start()
	if err := s.end(); !Permanent(err) || s.count() != 1 {
		t.Errorf("%d runs: %v", s.count(), err)
	}
}

func TestASignalEndsTheHostAndItsSupervisor(t *testing.T) {
	s := supervising(t, "waits")
	s.start()
	s.await(1)
	s.signals <- syscall.SIGTERM
	if err := s.end(); err != nil || s.count() != 1 {
		t.Errorf("%d runs: %v", s.count(), err)
	}
	s = supervising(t, "stays")
	s.cfg.grace = time.Millisecond
	s.start()
	s.await(1)
	s.signals <- syscall.SIGTERM
	if err := s.end(); !errors.Is(err, ErrKilled) || !strings.Contains(s.log(), "it is killed") {
		t.Errorf("%v\n%s", err, s.log())
	}
	s = supervising(t, "3")
	s.cfg.first = time.Hour
	s.start()
	for !strings.Contains(s.log(), "started again in 1h0m0s") {
		time.Sleep(time.Millisecond)
	}
	s.signals <- syscall.SIGTERM
	if err := s.end(); err != nil || s.count() != 1 {
		t.Errorf("while it waited: %d runs: %v", s.count(), err)
	}
}

func TestTheEndOfTheContextEndsTheHost(t *testing.T) {
	s := supervising(t, "waits")
	ctx, stop := context.WithCancel(t.Context())
	go func() { s.ended <- Supervise(ctx, s.cfg) }()
	s.await(1)
	stop()
	if err := s.end(); err != nil {
		t.Error(err)
	}
}
