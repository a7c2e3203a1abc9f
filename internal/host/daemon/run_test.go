package daemon

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"scorel/internal/engine/session/owner"
	"scorel/internal/platform/disk"
)

func TestAHostSaysWhereItIsAndTakesItBackAtItsEnd(t *testing.T) {
	dir := home(t)
	cfg := settings(dir)
	cfg.Listen = []string{"127.0.0.1:0"}
	r := start(t, cfg)
	info, live, err := Find(dir)
	if err != nil || !live || !info.Ready() || info.PID != os.Getpid() {
		t.Fatalf("found: %+v %v %v", info, live, err)
	}
	if len(info.Addresses) != 2 || info.Addresses[0] != "unix:"+info.Socket || strings.HasSuffix(info.Addresses[1], ":0") || !strings.HasPrefix(info.Addresses[1], "ws://127.0.0.1:") {
		t.Errorf("addresses: %v", info.Addresses)
	}
	for name, want := range map[string]os.FileMode{dir: 0o700, info.Socket: 0o600, filepath.Join(dir, infoName): 0o600, Header(dir): 0o600, Log(dir): 0o600} {
		if got := mode(t, name); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
	if err := healthy(t, info.Socket); err != nil {
		t.Error(err)
	}
	token, err := ReadToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	r.end()
	for _, name := range []string{infoName, socketName} {
		if exists(filepath.Join(dir, name)) {
			t.Errorf("%s is left", name)
		}
	}
	if _, live, err := Find(dir); live || err != nil {
		t.Errorf("found behind the end: %v %v", live, err)
	}
	for _, name := range []string{Log(dir)} {
		if data, err := os.ReadFile(name); err != nil || strings.Contains(string(data), token) || !strings.Contains(string(data), "listens on") {
			t.Errorf("the log: %s %v", data, err)
		}
	}
	start(t, settings(dir))
	if again, err := ReadToken(dir); err != nil || again != token {
		t.Errorf("the token has not survived: %v", err)
	}
}

func TestALiveHostIsNeverReplacedSilently(t *testing.T) {
	dir := home(t)
	start(t, settings(dir))
	err := Run(t.Context(), settings(dir))
	var live *LiveError
	if !errors.As(err, &live) || live.Info.PID != os.Getpid() || !strings.Contains(err.Error(), "--replace") || !strings.Contains(err.Error(), "since") {
		t.Errorf("a second host: %v", err)
	}
	if _, live, _ := Find(dir); !live {
		t.Error("the first host is gone")
	}
	if err := Reset(dir); err == nil || !strings.Contains(err.Error(), "host stop") {
		t.Errorf("reset while a host lives: %v", err)
	}
	if len(Leftovers(dir)) < 3 {
		t.Errorf("reset has removed files: %v", Leftovers(dir))
	}
}

func TestWhatADeadHostLeftIsReplaced(t *testing.T) {
	dir := home(t)
	write(t, filepath.Join(dir, infoName), `{"pid":1,"startedAt":5,"socket":"/nowhere","addresses":["ws://127.0.0.1:1"]}`)
	write(t, filepath.Join(dir, socketName), "no socket")
	if info, live, err := Find(dir); live || err != nil {
		t.Errorf("a host without its lock was found: %+v %v", info, err)
	}
	// Another process holds the lock and has not said yet where it is: what is in
	// host.json is not its.
	lock, err := disk.OS().Lock(filepath.Join(dir, lockName), owner.Owner{PID: 77, StartedAt: 9}.Text())
	if err != nil {
		t.Fatal(err)
	}
	if info, live, err := Find(dir); !live || err != nil || info.Ready() || info.PID != 77 {
		t.Errorf("one that begins: %+v %v %v", info, live, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	r := start(t, settings(dir))
	if info, live, _ := Find(dir); !live || info.PID != os.Getpid() || info.Socket != r.info.Socket {
		t.Errorf("found: %+v", info)
	}
	if err := healthy(t, r.info.Socket); err != nil {
		t.Error(err)
	}
}

func TestAHostThatTakesOverWaitsForTheLock(t *testing.T) {
	dir := home(t)
	first := start(t, settings(dir))
	cfg := settings(dir)
	cfg.TakeOver = 20 * time.Second
	next := make(chan *running)
	go func() { next <- start(t, cfg) }()
	first.signals <- syscall.SIGTERM
	r := <-next
	if err := <-first.ended; err != nil {
		t.Error(err)
	}
	close(first.ended)
	if info, live, _ := Find(dir); !live || info.StartedAt != r.info.StartedAt {
		t.Errorf("found: %+v", info)
	}
	cfg.TakeOver = time.Millisecond
	if err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "did not end within") {
		t.Errorf("one that does not end: %v", err)
	}
}

func TestAHostThatCannotBeginLeavesNothing(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"plain off loopback":        func(c *Config) { c.Listen = []string{"127.0.0.1:0", "ws://0.0.0.0:0"} },
		"no port":                   func(c *Config) { c.Listen = []string{"127.0.0.1:xx"} },
		"a scheme of its own":       func(c *Config) { c.Listen = []string{"ftp://127.0.0.1:0"} },
		"half of a certificate":     func(c *Config) { c.TLSCert = "/nowhere" },
		"a certificate not there":   func(c *Config) { c.TLSCert, c.TLSKey = "/nowhere", "/nowhere" },
		"more addresses than fit":   func(c *Config) { c.Listen = make([]string, maxListen+1) },
		"a config that is not TOML": func(c *Config) { write(t, filepath.Join(c.Host.Dir, "config.toml"), "[") },
		"a damaged token":           func(c *Config) { write(t, Header(c.Host.Dir), "secretsecret") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := home(t)
			cfg := settings(dir)
			change(&cfg)
			err := Run(t.Context(), cfg)
			if err == nil || strings.Contains(err.Error(), "secretsecret") {
				t.Fatalf("it began, or told a secret: %v", err)
			}
			if exists(filepath.Join(dir, infoName)) || exists(filepath.Join(dir, socketName)) {
				t.Errorf("left: %v", Leftovers(dir))
			}
			if _, live, _ := Find(dir); live {
				t.Error("the lock is held")
			}
		})
	}
}

func TestAPathThatIsTooLongForASocketIsRefusedInASentence(t *testing.T) {
	dir := filepath.Join(home(t), strings.Repeat("x", 100), ".scorel")
	if err := Run(t.Context(), settings(dir)); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("began: %v", err)
	}
}

func TestOtherAddressesAreServedWithACertificateThatStays(t *testing.T) {
	dir := home(t)
	cfg := settings(dir)
	cfg.Listen = []string{"wss://127.0.0.1:0"}
	r := start(t, cfg)
	if len(r.info.Fingerprint) != 95 || !strings.HasPrefix(r.info.Addresses[1], "wss://") {
		t.Errorf("info: %+v", r.info)
	}
	if got := mode(t, filepath.Join(dir, keyName)); got != 0o600 {
		t.Errorf("the key has mode %o", got)
	}
	r.end()
	again := start(t, cfg)
	if again.info.Fingerprint != r.info.Fingerprint {
		t.Error("the certificate has changed")
	}
	again.end()
	if err := Reset(dir); err != nil || len(Leftovers(dir)) > 0 {
		t.Errorf("reset: %v, left %v", err, Leftovers(dir))
	}
	if third := start(t, cfg); third.info.Fingerprint == r.info.Fingerprint {
		t.Error("the certificate is the one that was removed")
	}
}

func TestTheInfoFileHoldsNoToken(t *testing.T) {
	dir := home(t)
	start(t, settings(dir))
	token, err := ReadToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, infoName))
	if err != nil || strings.Contains(string(data), token) || !json.Valid(data) {
		t.Errorf("%s %v", data, err)
	}
}

func TestAHostThatWasStartedByACommandEndsWhenItHasLongBeenIdle(t *testing.T) {
	dir := home(t)
	cfg := settings(dir)
	cfg.UntilIdle, cfg.idleEnd, cfg.idleLook = true, time.Hour, time.Millisecond
	var skew atomic.Int64
	cfg.Host.Now = func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }
	r := start(t, cfg)
	if err := healthy(t, r.info.Socket); err != nil { // it is looked at many times meanwhile
		t.Error(err)
	}
	select {
	case err := <-r.ended:
		t.Fatalf("it ended before its time: %v", err)
	default:
	}
	skew.Store(int64(time.Hour))
	if err := <-r.ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	close(r.ended)
	if data, err := os.ReadFile(Log(dir)); err != nil || !strings.Contains(string(data), "stopping: idle for 1h") {
		t.Errorf("the log: %s %v", data, err)
	}
}

func TestASecondSignalEndsAHostAtOnce(t *testing.T) {
	r := start(t, settings(home(t)))
	r.signals <- syscall.SIGTERM
	r.signals <- syscall.SIGINT
	if err := <-r.ended; err != nil && !errors.Is(err, ErrKilled) { // the first may have been enough
		t.Errorf("the end: %v", err)
	}
	close(r.ended)
	if left := Leftovers(filepath.Dir(r.info.Socket)); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}
