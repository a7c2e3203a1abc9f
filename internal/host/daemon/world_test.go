package daemon

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"scorel/internal/host"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "child" {
		os.Exit(child(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// home makes a folder whose path is short enough for a socket.
func home(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scorel-d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, ".scorel")
}

func settings(dir string) Config {
	return Config{Host: host.Config{Dir: dir, UserHome: filepath.Dir(dir), Now: time.Now, Rand: rand.Reader, Version: "test"}}
}

// running is a host that serves in this process.
type running struct {
	t       *testing.T
	info    Info
	signals chan os.Signal
	ended   chan error
	stop    context.CancelFunc
}

// start runs a host until the test ends, and returns when clients can come.
func start(t *testing.T, cfg Config) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := &running{t: t, signals: make(chan os.Signal, 3), ended: make(chan error, 1), stop: stop}
	ready := make(chan Info, 1)
	cfg.Signals, cfg.Ready = r.signals, func(i Info) { ready <- i }
	go func() { r.ended <- Run(ctx, cfg) }()
	select {
	case r.info = <-ready:
	case err := <-r.ended:
		t.Fatalf("the host ended: %v", err)
	}
	t.Cleanup(r.end)
	return r
}

// end ends the host and waits.
func (r *running) end() {
	r.stop()
	if err, ok := <-r.ended; ok {
		if err != nil {
			r.t.Errorf("the end: %v", err)
		}
		close(r.ended)
	}
}

// healthy asks the host over its socket.
func healthy(t *testing.T, socket string) error {
	t.Helper()
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	resp, err := (&http.Client{Transport: tr}).Get("http://localhost/healthz")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func mode(t *testing.T, name string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(name string) bool { _, err := os.Lstat(name); return err == nil }
