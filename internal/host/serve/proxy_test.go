package serve

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"scorel/internal/dev/harness"
	"scorel/protocol"
	"scorel/protocol/handshake"
)

// idleConn is a line that a proxy cuts when nothing has come over it for a while.
type idleConn struct {
	net.Conn
	idle time.Duration
}

func (c idleConn) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(c.idle))
	return c.Conn.Read(p)
}

// reverseProxy serves the host at at below /scorel, over TLS, to who knows a password, and
// cuts silent lines.
func reverseProxy(t *testing.T, at string, idle time.Duration) *httptest.Server {
	t.Helper()
	to := &url.URL{Scheme: "http", Host: at}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return idleConn{c, idle}, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.SetXForwarded()
		r.Out.Host = r.In.Host
		r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, "/scorel")
	}}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "me" || password != "open sesame" {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestAReverseProxyWithAPathAPasswordAndAnIdleCutWorks(t *testing.T) {
	const idle = 2 * time.Second
	w := newWorld(t, setting{times: func(tm *times) { quick(tm); tm.ping = idle / 20 }, config: func(c *Config) { c.Names = []string{"desk.example:443"} }})
	owner := w.connect(dialling{})
	proxy := reverseProxy(t, w.loopback(), idle)
	made := owner.pairing(protocol.CreatePairing{LAN: true})

	// As a page does that came over it, with the browser's password.
	var pings atomic.Int32
	dial := func(origin, forwarded string) (*websocket.Conn, *http.Response, error) {
		header := http.Header{"Origin": {origin}}
		if forwarded != "" {
			header.Set("X-Forwarded-Proto", forwarded)
		}
		r, _ := http.NewRequest(http.MethodGet, "/", nil)
		r.SetBasicAuth("me", "open sesame")
		header.Set("Authorization", r.Header.Get("Authorization"))
		return websocket.Dial(t.Context(), "wss"+strings.TrimPrefix(proxy.URL, "https")+"/scorel"+WebSocketPath,
			&websocket.DialOptions{HTTPClient: proxy.Client(), HTTPHeader: header, Host: "desk.example",
				OnPingReceived: func(context.Context, []byte) bool { pings.Add(1); return true }})
	}
	for _, origin := range []string{"http://desk.example", "https://evil.example", "https://desk.example:444"} {
		if _, resp, err := dial(origin, ""); err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("a page of %s: %v %v", origin, resp, err)
		}
	}
	ws, _, err := dial("https://desk.example", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	p := &peer{t: t, ws: ws, hello: protocol.Hello{ProtocolVersion: protocol.Version, ClientName: "Safari on iPhone", Nonce: sha(t)}}
	static, ephemeral := newKey(t), newKey(t)
	_, secret, _ := protocol.SplitPairingCode(made.Code)
	c := p.sayPairing(static, ephemeral, made.PairingID)
	tr := &handshake.Transcript{Address: "tls:desk.example:443", Hello: p.hello, Challenge: c}
	of, err := handshake.Shared(ephemeral, c.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := handshake.Shared(static, c.Ephemeral)
	if err != nil {
		t.Fatal(err)
	}
	if !handshake.Equal(c.Proof, handshake.Host(handshake.Paired(secret, of), tr)) {
		t.Fatal("the host proves another address than the one that was dialled")
	}
	p.say("connect", protocol.Prove{Proof: handshake.Client(handshake.Paired(secret, mine), tr)})
	// A phone that comes over a proxy of this machine is not on this machine.
	if m := p.message(); m["type"] != "connected" || m["grant"] != "pending" {
		t.Fatalf("the host answered with %v", m)
	}
	if r := owner.call("", &protocol.ConfirmEntry{ClientID: p.hello.ClientID}); r.Err != nil {
		t.Fatal(r.Err)
	}
	if f := p.message(); f["type"] != "grant_changed" {
		t.Fatalf("told of %v", f)
	}
	// Nothing is said for longer than the proxy has patience, but for the pings of the host.
	read := make(chan error, 1)
	go func() { // answers pings; ends with the message
		_, _, err := ws.Read(t.Context())
		read <- err
	}()
	harness.Until(t, "pings for longer than the idle time", func() bool { return pings.Load() > 40 || len(read) > 0 })
	p.send("", &protocol.ListSessions{})
	if err := <-read; err != nil {
		t.Errorf("the line was cut: %v", err)
	}
}
