package client

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"scorel/protocol"
	"scorel/protocol/handshake"
)

// wirePath is where a host speaks WebSocket.
const wirePath = "/v1/ws"

// writeBuffer is how much of what is sent the system may hold back, in bytes. The
// library gives a ping (or the answer to one) 5 s to be taken, which after the
// megabytes that a kernel holds for a slow line would end an upload.
const writeBuffer = 128 << 10

// target is where a URL leads.
type target struct {
	socket  string // the path of a Unix socket, "" for TCP
	tls     bool
	host    string // host, with a port when the URL has one
	address string // host:port, or unix: and the path
	pin     []byte // the fingerprint of the certificate, nil for the system's roots
}

// target reads the URL and what goes with it.
func (w *WebSocket) target() (*target, error) {
	if (w.Token == "") == (w.Key == nil) {
		return nil, errors.New("a connection needs the host's token or this entry's own key, and not both")
	}
	if w.Code != "" && w.Key == nil {
		return nil, errors.New("a pairing code needs a client with its own key; set Key")
	}
	if w.Key != nil && w.Device == "" && w.Code == "" {
		return nil, errors.New("a connection with an own key needs the id of the host's device: without it any host would pass")
	}
	t, err := parseURL(w.URL)
	if err != nil || w.Fingerprint == "" {
		return t, err
	}
	if !t.tls {
		return nil, errors.New("a fingerprint belongs to a wss:// address; others have no certificate")
	}
	t.pin, err = hex.DecodeString(strings.ReplaceAll(w.Fingerprint, ":", ""))
	if err != nil || len(t.pin) != sha256.Size {
		return nil, fmt.Errorf("the fingerprint is not the SHA-256 of a certificate: it has 64 hex digits, with or without colons")
	}
	return t, nil
}

// parseURL reads the address of a host.
func parseURL(raw string) (*target, error) {
	if path, ok := strings.CutPrefix(raw, "unix:"); ok {
		path = strings.TrimPrefix(path, "//")
		if !filepath.IsAbs(path) {
			return nil, errors.New("the address of a socket needs its whole path, as in unix:/home/me/.scorel/host.sock")
		}
		path = filepath.Clean(path)
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil { // else dialling says what is wrong
			path = filepath.Join(dir, filepath.Base(path))
		}
		t := &target{socket: path, host: "localhost", address: "unix:" + path}
		return t, handshake.CheckAddress(t.address)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the address of a host is unix:/path, ws://127.0.0.1:PORT or wss://HOST:PORT, and this one cannot be read")
	}
	t := &target{host: strings.ToLower(u.Host)}
	port := ":80"
	switch u.Scheme {
	case "ws", "http":
	case "wss", "https":
		t.tls, port = true, ":443"
	default:
		return nil, errors.New("the address of a host begins with unix:, ws:// or wss://")
	}
	switch name := u.Hostname(); {
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("the address of a host has no user, query or fragment; nothing secret belongs into it")
	case u.Path != "" && u.Path != "/" && u.Path != wirePath:
		return nil, errors.New("the address of a host has no path")
	case name == "" || strings.ContainsAny(u.Host, "%") || strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }):
		return nil, errors.New("the address of a host needs its name or number in plain letters")
	case !t.tls && !loopbackName(name):
		return nil, fmt.Errorf("%s would be reached without encryption; use wss:// for a host that is not on this machine", name)
	}
	if !t.tls && strings.EqualFold(u.Hostname(), "localhost") {
		// One address, and its number in the proofs: the name may lead elsewhere, and
		// somebody else may hold the port of [::1] and pass on what is said to him.
		t.host = "127.0.0.1" + strings.TrimPrefix(t.host, "localhost")
	}
	t.address = strings.TrimSuffix(t.host, ":")
	if u.Port() == "" {
		t.address += port
	}
	if host, port, err := net.SplitHostPort(t.address); err != nil || host == "" || port == "" {
		return nil, errors.New("the address of a host is its name or number and a port, as in wss://example.com:7777")
	}
	return t, handshake.CheckAddress(t.proved())
}

// proved returns the address of the transcript.
func (t *target) proved() string {
	if t.tls {
		return handshake.TLS(t.address)
	}
	return t.address
}

func loopbackName(name string) bool {
	if ip := net.ParseIP(name); ip != nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(name, "localhost")
}

// connect opens the WebSocket; heard is kept up to date with when bytes come.
func (t *target) connect(ctx context.Context, w *WebSocket, heard *atomic.Int64) (*websocket.Conn, error) {
	scheme, proxy := "ws://", (func(*http.Request) (*url.URL, error))(nil)
	if t.tls {
		scheme, proxy = "wss://", http.ProxyFromEnvironment
	}
	dial := new(net.Dialer).DialContext
	if w.DialContext != nil {
		dial = w.DialContext
	}
	transport := &http.Transport{Proxy: proxy, MaxResponseHeaderBytes: maxGreeting,
		TLSClientConfig: t.tlsConfig(),
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if t.socket != "" {
				network, address = "unix", t.socket
			}
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetWriteBuffer(writeBuffer) // else a ping may only be late
			}
			return &hearing{c, heard}, nil
		}}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	conn, resp, err := websocket.Dial(ctx, scheme+t.host+wirePath, &websocket.DialOptions{HTTPClient: client, CompressionMode: websocket.CompressionDisabled})
	if err == nil {
		return conn, nil
	}
	transport.CloseIdleConnections()
	var unknown *wrongCertificate
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.As(err, &untrusted):
		return nil, &PermanentError{fmt.Errorf("the certificate of %s is not trusted here (%w); give its fingerprint, which the host prints", t.address, untrusted.Err)}
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("no host of Scorel answers on %s: it took too long", t.address)
	case errors.As(err, &unknown):
		return nil, &PermanentError{unknown}
	case resp != nil && resp.StatusCode == http.StatusForbidden:
		return nil, &PermanentError{protocol.Errorf(protocol.CodeForbidden, "What listens on %s refuses the connection; it may not know itself under this name.", t.address)}
	case resp != nil:
		return nil, fmt.Errorf("what listens on %s is not a host of Scorel, or not ready (it answers HTTP %d)", t.address, resp.StatusCode)
	}
	return nil, fmt.Errorf("no host of Scorel answers on %s: %w", t.address, cause(err))
}

// cause returns the innermost of the errors that packages have wrapped around a
// failed dial with words of their own.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// wrongCertificate reports that another certificate came than the pinned one.
type wrongCertificate struct{ address string }

// Error returns the sentence.
func (e *wrongCertificate) Error() string {
	return fmt.Sprintf("%s has another certificate than the one with the given fingerprint; nothing was sent to it", e.address)
}

func (t *target) tlsConfig() *tls.Config {
	if t.pin == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, // the pin is checked instead
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) > 0 {
				if sum := sha256.Sum256(s.PeerCertificates[0].Raw); string(sum[:]) == string(t.pin) {
					return nil
				}
			}
			return &wrongCertificate{t.address}
		}}
}

// hearing is a connection that notes when bytes come.
type hearing struct {
	net.Conn
	at *atomic.Int64
}

// Read reads and notes the time.
func (h *hearing) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if n > 0 {
		h.at.Store(time.Now().UnixNano())
	}
	return n, err
}
