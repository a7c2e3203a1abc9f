package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scorel/internal/dev/harness"
)

func TestTenThousandHalfOpenConnectionsKeepNobodyOut(t *testing.T) {
	const connections = 10_000
	w := newWorld(t, setting{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	goroutines := runtime.NumGoroutine()
	var dialled sync.WaitGroup
	halfway := make(chan struct{})
	halfwayOnce := sync.OnceFunc(func() { close(halfway) })
	dialled.Go(func() {
		for i := range connections {
			c, err := net.Dial("unix", w.socket)
			for errors.Is(err, syscall.EAGAIN) { // the queue of the listener is full
				runtime.Gosched()
				c, err = net.Dial("unix", w.socket)
			}
			if err != nil {
				t.Errorf("connection %d: %v", i, err)
				halfwayOnce()
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			if i%2 == 0 { // slow-loris: a header that never ends
				_, _ = c.Write([]byte("GET /v1/ws HTTP/1.1\r\nHost: localhost\r\n"))
			}
			if i == connections/2 {
				halfwayOnce()
			}
		}
	})
	<-halfway
	in, tries := 0, 0
	for until := time.Now().Add(harness.Timeout); in < 5 && time.Now().Before(until); tries++ { // while the flood goes on; a client tries again
		p, _, err := w.open(dialling{})
		if err != nil {
			continue
		}
		if p.tryToken("unix:"+w.socket) == nil {
			in++
		}
	}
	if in < 5 {
		t.Errorf("the owner got in %d times out of %d", in, tries)
	}
	dialled.Wait()
	lis := w.listener()
	harness.Until(t, "few connections", func() bool {
		lis.mu.Lock()
		defer lis.mu.Unlock()
		return len(lis.streams) <= maxUnproven+5
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("the host has grown by %d bytes", grown)
	}
	if more := runtime.NumGoroutine() - goroutines; more > 2*maxUnproven+100 {
		t.Errorf("there are %d more goroutines", more)
	}
	if lines := strings.Split(w.reported(), "\n"); len(lines) > 10 {
		t.Errorf("the flood was reported %d times", len(lines))
	}
	w.connect(dialling{})
}

func TestSlowLorisIsDroppedAtEveryStep(t *testing.T) {
	_, addr, client := tlsWorldOf(t, func(t *times) { t.proof = 300 * time.Millisecond }, nil)
	roots := client.Transport.(*http.Transport).TLSClientConfig
	for name, begin := range map[string]func(net.Conn) (net.Conn, error){
		"before TLS":  func(c net.Conn) (net.Conn, error) { return c, nil },
		"inside TLS":  func(c net.Conn) (net.Conn, error) { _, err := c.Write([]byte{22, 3, 1, 2}); return c, err },
		"before HTTP": func(c net.Conn) (net.Conn, error) { s := tls.Client(c, roots); return s, s.Handshake() },
		"inside HTTP": func(c net.Conn) (net.Conn, error) {
			s := tls.Client(c, roots)
			_, err := s.Write([]byte("GET / HTTP/1.1\r\nX: "))
			return s, err
		},
		"before hello": func(c net.Conn) (net.Conn, error) { return upgraded(c, roots, addr, nil) },
		"inside hello": func(c net.Conn) (net.Conn, error) {
			return upgraded(c, roots, addr, []byte{0x81, 0xfe, 0x10, 0x00, 1, 2, 3, 4, 5})
		},
		"after a while": func(c net.Conn) (net.Conn, error) { return upgraded(c, roots, addr, []byte{0x01, 0x80, 1, 2, 3, 4}) },
	} {
		t.Run(name, func(t *testing.T) {
			var raw, c net.Conn
			harness.Until(t, "the step", func() bool {
				var err error
				if raw, err = net.Dial("tcp", addr); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = raw.Close() })
				c, err = begin(raw)
				return err == nil // else the machine was slower than one may be
			})
			_ = raw.SetReadDeadline(time.Now().Add(harness.Timeout))
			buf := make([]byte, 4096)
			for {
				if _, err := c.Read(buf); err != nil {
					if ne, ok := err.(net.Error); ok && ne.Timeout() {
						t.Error("the connection is still open")
					}
					return
				}
			}
		})
	}
}

// upgraded makes a WebSocket connection by hand and sends what follows.
func upgraded(c net.Conn, roots *tls.Config, addr string, then []byte) (net.Conn, error) {
	s := tls.Client(c, roots)
	head := "GET /v1/ws HTTP/1.1\r\nHost: " + addr + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
	_, err := s.Write(append([]byte(head), then...))
	return s, err
}

// comes has a connection come from an address, and returns it and the one that had to go.
func comes(t *testing.T, u *unproven, address string) (st, dropped *stream) {
	a, b := net.Pipe()
	t.Cleanup(func() { _ = b.Close() })
	st = &stream{Conn: a, address: address, gone: make(chan struct{}), l: &listener{unproven: u, streams: map[*stream]struct{}{}}}
	return st, u.add(st, time.AfterFunc(time.Hour, func() {}))
}

func TestWhoAsksForFilesKeepsNobodyOut(t *testing.T) {
	u := newUnproven(Loopback)
	defer u.closeAll()
	add := func() (st, dropped *stream) { return comes(t, u, "") }
	for i := range maxUnproven {
		st, _ := add()
		done := u.serve(st, time.Hour)
		if i%2 == 0 { // the others never end
			done()
		}
	}
	owner, _ := add() // which says nothing yet
	reading, _ := add()
	u.serve(reading, time.Hour)
	for range maxUnproven / 4 {
		st, dropped := add()
		if dropped == owner || dropped == reading {
			t.Fatal("a client of the owner had to go")
		}
		u.serve(st, time.Hour)()
	}
}

func TestOneRemoteAddressCannotDisplaceTheOthers(t *testing.T) {
	u := newUnproven(TLS)
	defer u.closeAll()
	add := func(address string) (st, dropped *stream) { return comes(t, u, address) }
	owner, _ := add("owner")
	var first *stream
	for i := range maxUnproven * 4 {
		st, dropped := add("flood")
		if first == nil {
			first = st
		}
		switch {
		case i < maxUnprovenAddress && dropped != nil:
			t.Fatalf("connection %d displaced one", i)
		case i >= maxUnprovenAddress && (dropped == nil || dropped.address != "flood"):
			t.Fatalf("connection %d displaced %v", i, dropped)
		case i == maxUnprovenAddress && dropped != first:
			t.Fatal("not the oldest had to go")
		}
	}
	for i := range maxUnproven { // many addresses: those with the most go first
		if _, dropped := add("flood" + string(rune('a'+i%20))); dropped == owner {
			t.Fatal("the owner had to go")
		}
	}
	if n := len(u.oldest); n > maxUnproven {
		t.Errorf("%d wait", n)
	}
	if !u.remove(owner) {
		t.Error("the owner is gone")
	}
}

func TestAFloodOnAPortIsNotFeltOnTheSocket(t *testing.T) {
	w := newWorld(t, setting{})
	addr := w.loopback()
	early, _, err := w.open(dialling{}) // unproven for now
	if err != nil {
		t.Fatal(err)
	}
	for range maxUnproven * 3 {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	early.proveToken("unix:"+w.socket, testToken)
	if m := early.message(); m["type"] != "connected" {
		t.Errorf("the client on the socket was told %v", m)
	}
}

func TestAddressesOfOneNetworkCountTogether(t *testing.T) {
	group := func(ip string) string { return addressGroup(&net.TCPAddr{IP: net.ParseIP(ip), Port: 1}) }
	if group("2001:db8::1") != group("2001:db8::ffff") || group("2001:db8::1") == group("2001:db8:0:1::1") {
		t.Error("IPv6 does not count by /64")
	}
	if group("192.0.2.1") == group("192.0.2.2") || group("192.0.2.1") != group("::ffff:192.0.2.1") {
		t.Error("IPv4 does not count by address")
	}
}

func TestRefusalsAreReportedSeldomAndAllAreCounted(t *testing.T) {
	var got []string
	now := time.Unix(0, 0)
	r := newReporter(func(s string) { got = append(got, s) })
	r.now = func() time.Time { return now }
	for range 1000 {
		r.report(reasonHost, "host")
		r.report(reasonProof, "proof")
	}
	if len(got) != 2 {
		t.Fatalf("reported: %q", got)
	}
	now = now.Add(reportEvery)
	r.report(reasonHost, "again")
	r.flush()
	if want := []string{"host", "proof", "again (and 999 more like this before)", "proof (and 998 more like this before)"}; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("reported: %q", got)
	}
}

func TestAListenerTakesOnlySoManyConnections(t *testing.T) {
	w := newWorld(t, setting{})
	lis := w.listener()
	lis.mu.Lock()
	for range maxConnections {
		lis.streams[&stream{}] = struct{}{}
	}
	lis.mu.Unlock()
	free := func() {
		lis.mu.Lock()
		defer lis.mu.Unlock()
		clear(lis.streams)
	}
	defer free()
	resp, err := w.unixHTTP().Do(must(http.NewRequestWithContext(context.Background(), "GET", "http://localhost/healthz", nil)))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one more: %s", resp.Status)
	}
	free()
	w.connect(dialling{})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
