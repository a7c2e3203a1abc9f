package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"scorel/client"
	"scorel/internal/platform/sandbox/sandboxtest"
	"scorel/protocol"
)

// certificate makes a certificate that names a host.
func certificate(t *testing.T, names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), DNSNames: names, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// tlsWorld is a world with a TLS port whose certificate names box.test and *.lab.test.
func tlsWorld(t *testing.T, change func(*Config)) (*world, string, *http.Client) {
	t.Helper()
	return tlsWorldOf(t, quick, change)
}

func tlsWorldOf(t *testing.T, waits func(*times), change func(*Config)) (*world, string, *http.Client) {
	t.Helper()
	cert, pool := certificate(t, "box.test", "*.lab.test")
	w := newWorld(t, setting{times: waits, config: func(c *Config) {
		c.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		if change != nil {
			change(c)
		}
	}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.serve(l, TLS)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "box.test"}}
	t.Cleanup(tr.CloseIdleConnections)
	return w, l.Addr().String(), &http.Client{Transport: tr}
}

// get asks for /healthz under a name.
func get(t *testing.T, c *http.Client, base, host string, header ...string) (int, protocol.Error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", base+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var e protocol.Error
	_ = json.NewDecoder(resp.Body).Decode(&e) // of "ok" nothing
	return resp.StatusCode, e
}

func TestOnLoopbackTheHostIsCalledByItsOwnNames(t *testing.T) {
	w := newWorld(t, setting{config: func(c *Config) { c.Names = []string{"Box.Lan", "proxy.lan:8443"} }})
	addr := w.loopback()
	_, port, _ := net.SplitHostPort(addr)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for host, want := range map[string]int{
		"localhost:" + port: 200, "LOCALHOST:" + port: 200, "127.0.0.1:" + port: 200, "box.lan:" + port: 200, "proxy.lan:8443": 200,
		"localhost": 403, "localhost:1": 403, "evil.example:" + port: 403, "127.0.0.1.evil.example:" + port: 403,
		"proxy.lan:" + port: 403, "127.0.0.2:" + port: 403, "box.lan": 403, "localhost.:" + port: 403, "169.254.169.254:" + port: 403,
		"[::1]:" + port: 403, // where a stranger may listen, who passes on what comes
	} {
		says := "not known by the name"
		if host == "localhost" || host == "localhost:1" || host == "box.lan" { // right but for the port
			says = "another port than this host, which listens on " + port
		}
		if got, e := get(t, client, "http://"+addr, host); got != want || want == 403 && (e.Code != protocol.CodeForbidden || !strings.Contains(e.Message, says)) {
			t.Errorf("Host %s: %d %v, not %d", host, got, e, want)
		}
	}
}

func TestAnyAddressOfThisMachineIsANameOfTheHostThere(t *testing.T) {
	w := newWorld(t, setting{})
	l, err := net.Listen("tcp", "127.8.8.8:0")
	if err != nil {
		t.Fatal(err)
	}
	w.serve(l, Loopback)
	w.connect(dialling{url: "ws://" + l.Addr().String()})
}

// passOn lets a stranger pass on what comes to him to the host, and says who came.
func passOn(t *testing.T, stranger net.Listener, host func() (net.Conn, error)) <-chan struct{} {
	t.Helper()
	t.Cleanup(func() { _ = stranger.Close() })
	passed := make(chan struct{}, 16)
	go func() { // ends with the listener
		for {
			c, err := stranger.Accept()
			if err != nil {
				return
			}
			passed <- struct{}{}
			to, err := host()
			if err != nil {
				_ = c.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{c, to}, {to, c}} {
				go func() { // ends with either side
					_, _ = io.Copy(way[1], way[0])
					_ = way[1].Close()
				}()
			}
		}
	}()
	return passed
}

// samePort listens at two addresses of this machine with one port, which nobody else may have
// at either: 127.8.8.8 is as [::1] would be, which not every machine has.
func samePort(t *testing.T) (real, stranger net.Listener) {
	t.Helper()
	for range 100 {
		real, err := net.Listen("tcp", "127.8.8.8:0")
		if err != nil {
			t.Fatal(err)
		}
		if stranger, err = net.Listen("tcp", "127.0.0.1:"+port(real.Addr().String())); err == nil {
			return real, stranger
		}
		_ = real.Close()
	}
	t.Fatal("no port is free at both addresses")
	return nil, nil
}

// TestAStrangerWithoutACertificateCannotPassOnAProofToTLS has a client dial a plain
// port of a stranger, who speaks TLS with the host: it listens elsewhere, and its
// certificate has the name that was dialled.
func TestAStrangerWithoutACertificateCannotPassOnAProofToTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, setting{times: quick, config: func(c *Config) {
		c.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	}})
	real, stranger := samePort(t)
	w.serve(real, TLS)
	passed := passOn(t, stranger, func() (net.Conn, error) {
		return tls.Dial("tcp", real.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	})
	d := client.WebSocket{URL: "ws://" + stranger.Addr().String(), Token: testToken, ClientID: protocol.ClientIDOf(sha(t))}
	tr, _, err := d.Dial(t.Context())
	if err == nil {
		_ = tr.Close()
		t.Error("a connection through a stranger stands")
	}
	<-passed
}

// TestAStrangerOnTheOtherLocalhostCannotPassOnAProof has a client dial localhost,
// where a stranger holds the port of the one address and the host that of the other.
func TestAStrangerOnTheOtherLocalhostCannotPassOnAProof(t *testing.T) {
	w := newWorld(t, setting{times: quick})
	real, stranger := samePort(t)
	w.serve(real, Loopback)
	_, port, _ := net.SplitHostPort(real.Addr().String())
	passed := passOn(t, stranger, func() (net.Conn, error) { return net.Dial("tcp", real.Addr().String()) })
	for _, name := range []string{"localhost", "127.0.0.1"} {
		d := client.WebSocket{URL: "ws://" + name + ":" + port, Token: testToken, ClientID: protocol.ClientIDOf(sha(t))}
		tr, _, err := d.Dial(t.Context())
		if err == nil {
			_ = tr.Close()
			t.Errorf("%s: a connection through a stranger stands", name)
		}
		select {
		case <-passed:
		case <-t.Context().Done():
			t.Errorf("%s: the stranger was not asked", name)
		}
	}
}

func TestOverTLSTheHostIsCalledByItsAddressOrItsCertificatesNames(t *testing.T) {
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	_, addr, client := tlsWorld(t, nil)
	_, port, _ := net.SplitHostPort(addr)
	for host, want := range map[string]int{
		addr: 200, "box.test:" + port: 200, "a.lab.test:" + port: 200, strings.ToUpper(hostname) + ":" + port: 200,
		"box.test": 403, "localhost:" + port: 403, "evil.example:" + port: 403, "10.0.0.1:" + port: 403, "a.b.lab.test:" + port: 403,
	} {
		if got, e := get(t, client, "https://"+addr, host); got != want {
			t.Errorf("Host %s: %d %v, not %d", host, got, e, want)
		}
	}
}

func TestAForeignOriginIsRefused(t *testing.T) {
	w := newWorld(t, setting{config: func(c *Config) { c.Origins = []string{"https://app.example", "http://localhost:5173"} }})
	addr := w.loopback()
	_, port, _ := net.SplitHostPort(addr)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for origin, want := range map[string]int{
		"http://localhost:" + port: 200, "http://127.0.0.1:" + port: 200, "https://app.example": 200, "https://app.example:443": 200, "http://localhost:5173": 200,
		"https://localhost:" + port: 403, "http://localhost": 403, "http://localhost:1": 403, "https://evil.example": 403, "null": 403, "": 403,
		"http://app.example": 403, "https://app.example.evil": 403, "https://app.example/x": 403, "file://": 403, "https://user@app.example": 403,
	} {
		if got, e := get(t, client, "http://"+addr, "", "Origin", origin); got != want {
			t.Errorf("Origin %s: %d %v, not %d", origin, got, e, want)
		}
		// A WebSocket is no way around.
		_, resp, err := w.open(dialling{url: "ws://" + addr, header: http.Header{"Origin": {origin}}})
		if want == 200 && err != nil || want == 403 && (resp == nil || resp.StatusCode != 403) {
			t.Errorf("WebSocket of the origin %s: %v", origin, err)
		}
	}
	if got, _ := get(t, client, "http://"+addr, "", "Origin", "https://app.example", "Origin", "https://evil.example"); got != 403 {
		t.Errorf("two origins, one of them foreign: %d", got)
	}
	if got, _ := get(t, w.unixHTTP(), "http://localhost", "", "Origin", "http://localhost"); got != 403 {
		t.Errorf("a page on the socket: %d", got)
	}
}

func TestATokenInAURLIsRefusedByNameAndNowhereWritten(t *testing.T) {
	w := newWorld(t, setting{})
	c := w.script()
	for _, path := range []string{
		"/v1/projects?token=x", "/v1/projects?access_token=x", "/v1/projects?Access-Token=x", "/v1/projects?a=" + testToken, "/" + testToken + "/v1/projects",
		"/v1/projects?h=" + url.QueryEscape("Bearer "+testToken), "/v1/ws?token=" + testToken, "/healthz?auth=" + testToken, "/v1/sessions/" + testToken + "/events",
	} {
		resp, text := c.do("GET", path, "")
		if resp.StatusCode != 400 || !strings.Contains(text, "put it in the Authorization header") || strings.Contains(text, testToken) {
			t.Errorf("%.20s…: %s %s", path, resp.Status, text)
		}
	}
	if got := w.reported(); got == "" || strings.Contains(got, testToken[:20]) {
		t.Errorf("reported: %s", got)
	}
	if resp, _ := c.do("GET", "/v1/sessions?query="+strings.Repeat("a", tokenLength), ""); resp.StatusCode != 200 {
		t.Errorf("what only looks like a token: %s", resp.Status)
	}
}

func TestPlainTCPOffLoopbackIsRefused(t *testing.T) {
	w := newWorld(t, setting{})
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.server.Serve(l, Loopback); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("Serve: %v", err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the port is still open")
	}
}

// disguised is a listener on loopback whose connections come from elsewhere.
type disguised struct{ net.Listener }

type foreign struct{ *net.TCPConn }

func (foreign) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711} }

func (d disguised) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return foreign{c.(*net.TCPConn)}, nil
}

func TestAForeignPeerOnALoopbackPortIsRefused(t *testing.T) {
	w := newWorld(t, setting{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.serve(disguised{l}, Loopback)
	if got, e := get(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "http://"+l.Addr().String(), ""); got != 403 || !strings.Contains(e.Message, "TLS") {
		t.Errorf("a foreign peer: %d %v", got, e)
	}
	if got := w.reported(); !strings.Contains(got, "192.0.2.7:4711") {
		t.Errorf("reported: %s", got)
	}
}

func TestATLSListenerWithoutACertificateIsRefused(t *testing.T) {
	w := newWorld(t, setting{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.server.Serve(l, TLS); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("Serve: %v", err)
	}
}

func TestOverTLSAndLoopbackTheSameProofCounts(t *testing.T) {
	w, addr, client := tlsWorld(t, nil)
	p := w.connect(dialling{url: "wss://" + addr, client: client})
	if r := p.call("", &protocol.Ping{}); r.Err != nil {
		t.Error(r.Err)
	}
	_, port, _ := net.SplitHostPort(addr)
	p = w.connect(dialling{url: "wss://" + addr, client: client, host: "Box.Test:" + port, address: "tls:box.test:" + port})
	if r := p.call("", &protocol.Ping{}); r.Err != nil {
		t.Error(r.Err)
	}
	plain := w.loopback()
	w.connect(dialling{url: "ws://" + plain})
	other, _, err := w.open(dialling{url: "ws://" + plain, host: "localhost:" + strings.Split(plain, ":")[1]})
	if err != nil {
		t.Fatal(err)
	}
	other.proveToken("wrong"+plain, testToken)
	other.refusedWith(protocol.CodeAuthFailed)
}

func TestOverTLSHTTPNeedsTheTokenToo(t *testing.T) {
	_, addr, client := tlsWorld(t, nil)
	for header, want := range map[string]int{"": 401, "Bearer " + testToken: 200} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+addr+"/v1/projects", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", header)
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("with %.6q: %s", header, resp.Status)
		}
	}
}

// socketVariable names the socket to the process of another user.
const socketVariable = "TEST_SOCKET_OF_ANOTHER"

func TestAnotherUserOnTheSocketIsRefused(t *testing.T) {
	if os.Getenv(socketVariable) == "" {
		w := newWorld(t, setting{})
		// The modes are what keeps others out at first; here they are open.
		for _, p := range []string{filepath.Dir(w.socket), w.socket} {
			if err := os.Chmod(p, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv(socketVariable, strconv.Itoa(os.Geteuid())+":"+w.socket)
		t.Cleanup(func() {
			if os.Geteuid() == 0 && !strings.Contains(w.reported(), "refused uid 65534: The host belongs to another user") {
				t.Errorf("reported: %s", w.reported())
			}
		})
	}
	sandboxtest.AsUser(t, func(t *testing.T, _ string) {
		owner, socket, _ := strings.Cut(os.Getenv(socketVariable), ":")
		w := &world{t: t, socket: socket}
		got, e := get(t, w.unixHTTP(), "http://localhost", "")
		if owner == strconv.Itoa(os.Geteuid()) { // nobody here can become another user: it is let in
			if got != 200 {
				t.Errorf("the owner: %d %v", got, e)
			}
			return
		}
		if got != 403 || !strings.Contains(e.Message, "another user") {
			t.Errorf("another user: %d %v", got, e)
		}
	})
}
