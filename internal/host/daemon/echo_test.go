package daemon

import (
	"os"
	"strings"
	"testing"
	"time"
)

// stalled is a terminal that is stopped, until it is closed.
type stalled struct {
	began, open chan struct{}
	wrote       strings.Builder
}

func (s *stalled) Write(p []byte) (int, error) {
	select {
	case s.began <- struct{}{}:
	default:
	}
	<-s.open
	return s.wrote.Write(p)
}

func TestAHostWhoseTerminalIsStoppedEnds(t *testing.T) {
	dir := home(t)
	cfg := settings(dir)
	to := &stalled{began: make(chan struct{}, 1), open: make(chan struct{})}
	cfg.Echo = to
	r := start(t, cfg)
	<-to.began
	r.signals <- os.Interrupt
	late := time.AfterFunc(30*time.Second, func() { close(to.open) })
	if err := <-r.ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	close(r.ended)
	if late.Stop() {
		close(to.open)
	} else {
		t.Error("it has waited for its terminal")
	}
	if data, err := os.ReadFile(Log(dir)); err != nil || !strings.Contains(string(data), "stopping: signal interrupt") {
		t.Errorf("the log: %s %v", data, err)
	}
}

func TestLinesThatATerminalDoesNotTakeAreCounted(t *testing.T) {
	to := &stalled{began: make(chan struct{}, 1), open: make(chan struct{})}
	e := newEcho(to)
	e.add([]byte("first\n"))
	<-to.began
	for range maxEcho + 3 {
		e.add([]byte("line\n"))
	}
	close(to.open)
	e.close()
	<-e.ended
	if got := to.wrote.String(); strings.Count(got, "line\n") != maxEcho || !strings.HasSuffix(got, "(3 lines are only in host.log)\n") {
		t.Errorf("written: %s", got)
	}
}
